/** Search is in the page, by indexes that are built with the site: one for each language. */
import { addressOf, chineseOf } from './pages.ts';

/**
 * Chinese has no spaces, so two characters that follow each other are a word, and one that stands alone. Sent to the browser as text, so it
 * may use nothing from outside.
 */
export const tokenize = (text: string): string[] =>
  text
    .replace(/\p{Script=Han}+/gu, (run) => {
      const characters = [...run];
      const pairs = characters.slice(1).map((each, i) => characters[i] + each);
      return ` ${(pairs.length > 0 ? pairs : characters).join(' ')} `;
    })
    .split(/(?:(?!_)[\n\r\p{Z}\p{P}])+/u);

/** What shows that all is true comes last. Sent to the browser as text, too. */
export const boostDocument = (id: string): number => {
  const page = id.replace(/#.*$/, '');
  if (
    /\/(evidence|known-bugs|promises|compatibility|changelog|decisions|architecture|contributing|code_of_conduct|readme)/.test(
      page,
    )
  )
    return 0.15;
  if (/\/reference\//.test(page)) return 0.4;
  return /\/(recipes|troubleshooting|articles|guides\/memo)/.test(page) ? 1.6 : 1;
};

/** The index has two parts, so that the first one is there soon: guides, and later the exports and the proof. */
const isLater = (id: string): boolean => boostDocument(id) < 1;

/** How a page is searched. */
export const searchOptions = { boostDocument, boost: { title: 4, text: 1, titles: 2 }, fuzzy: 0.1, prefix: true };

/** What MiniSearch writes of an index, as far as it is changed here. */
export interface SavedIndex {
  readonly documentCount: number;
  readonly documentIds: Readonly<Record<string, string>>;
  readonly fieldLength: Readonly<Record<string, readonly number[]>>;
  readonly averageFieldLength: readonly number[];
  readonly storedFields: Readonly<Record<string, unknown>>;
  readonly index: readonly (readonly [
    term: string,
    fields: Readonly<Record<string, Readonly<Record<string, number>>>>,
  ])[];
}

const only = <T>(all: Readonly<Record<string, T>>, ids: ReadonlySet<string>): Record<string, T> =>
  Object.fromEntries(Object.entries(all).filter(([id]) => ids.has(id)));

/** The part of an index that is about the documents that `isIn` says. */
export function partOf(saved: SavedIndex, isIn: (id: string) => boolean): SavedIndex {
  const ids = new Set(Object.keys(saved.documentIds).filter((id) => isIn(saved.documentIds[id]!)));
  const lengths = only(saved.fieldLength, ids);
  const sums = saved.averageFieldLength.map((_, field) =>
    Object.values(lengths).reduce((sum, each) => sum + (each[field] ?? 0), 0),
  );
  const index = saved.index.flatMap(([term, fields]) => {
    const left = Object.entries(fields)
      .map(([field, found]) => [field, only(found, ids)] as const)
      .filter(([, found]) => Object.keys(found).length > 0);
    return left.length > 0 ? [[term, Object.fromEntries(left)] as const] : [];
  });
  return {
    ...saved,
    documentCount: ids.size,
    documentIds: only(saved.documentIds, ids),
    fieldLength: lengths,
    averageFieldLength: sums.map((sum) => (ids.size === 0 ? 0 : sum / ids.size)),
    storedFields: only(saved.storedFields, ids),
    index,
  };
}

interface Context {
  load(module: { id: string }): Promise<unknown>;
}
interface Transform {
  readonly name: string;
  transform(this: Context, code: string, id: string): Promise<string | undefined>;
}

const FIRST = '/@localSearchIndex';
const LANGUAGES = ['root', 'zh'] as const;
const isChinese = (id: string): boolean => /^\/zh\//.test(id);

/** The box shows by this that it waits for an index: see `theme/style.css` and `theme/two-indexes.ts`. */
const SAY = `const say = (load) => () => {
  if (typeof document !== 'undefined') document.documentElement.dataset.search = 'loading';
  return load();
};
`;
const LOADERS = `export default { ${LANGUAGES.map((language) => `${language}: say(() => import('@localSearchIndex${language}'))`).join(', ')} };`;

/**
 * VitePress makes an index for each language by the folder of its sources. Here all lie in one, so its index is of both, and is parted here:
 * by language, and each in what is loaded first and later. The Chinese one has the English pages that are not translated.
 * @param pages as paths from the top of the repository
 */
export function indexPerLanguage(pages: readonly string[]): Transform {
  const translated = new Set(pages.filter((page) => chineseOf(page) !== undefined).map(addressOf));
  const isIn = {
    root: (id: string): boolean => !isChinese(id),
    zh: (id: string): boolean => isChinese(id) || !translated.has(id.replace(/#.*$/, '')),
  };
  const text = (saved: SavedIndex): string => JSON.stringify(JSON.stringify(saved));
  let all: SavedIndex | undefined;
  return {
    name: 'index-per-language',
    async transform(code, id) {
      if (id === FIRST) return SAY + LOADERS;
      const language = LANGUAGES.find((each) => id === `${FIRST}${each}` || id === `${FIRST}${each}later`);
      if (language === undefined) return undefined;
      if (id === `${FIRST}root`) all = JSON.parse(JSON.parse(code.replace(/^export default /, ''))) as SavedIndex;
      else await this.load({ id: `${FIRST}root` });
      const saved = all!;
      if (id.endsWith('later')) {
        return `export default ${text(partOf(saved, (document) => isIn[language](document) && isLater(document)))}`;
      }
      const first = partOf(saved, (document) => isIn[language](document) && !isLater(document));
      return `export default { first: ${text(first)}, later: () => import('@localSearchIndex${language}later') };`;
    },
  };
}
