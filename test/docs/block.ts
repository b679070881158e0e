/** Code blocks of pages, as functions that tests run. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import { sourceOf } from '../../scripts/sources.mjs';
import { atExit } from '../kit/cleanup.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, '.tmp', `blocks-${process.pid}`);
let modules = 0;

// biome-ignore lint/suspicious/noExplicitAny: what a block declares is what its page says
type Names = Record<string, any>;
export type Example = (given?: Names, instead?: Readonly<Record<string, string>>) => Promise<Names>;

export interface Found {
  readonly page: string;
  readonly heading: string;
  /** Its place among the blocks under that heading, from 1. */
  readonly nth: number;
  readonly code: string;
}

/** The TypeScript blocks of a page, with the headings that they stand under. */
export function blocksOf(page: string): Found[] {
  const found: Found[] = [];
  let heading = '';
  for (const [, title, language, code] of readFileSync(join(root, page), 'utf8').matchAll(
    /^#+ ([^\n]*)$|^```(\w*)(?: \[[^\]\n]*\])?\n(.*?)^```$/gms,
  )) {
    if (title !== undefined) heading = title;
    else if (language === 'ts') {
      const nth = found.filter((block) => block.heading === heading).length + 1;
      found.push({ page, heading, nth, code: code! });
    }
  }
  return found;
}

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, { types?: string }>;
};

/** The source of what is published under that name. */
function publishedFrom(name: string): string {
  if (name === 'holdfast') return new URL('./tracked.ts', import.meta.url).href;
  const types = exports[name.replace('holdfast', '.')]?.types;
  if (types === undefined) throw new Error(`${name} is not exported`);
  return pathToFileURL(sourceOf(types.replace('.d.ts', '.ts'))).href;
}

const declared = (code: string): string[] =>
  [...code.matchAll(/^(?:async )?(?:const|let|function|class) (\w+|[{[][^}\]]*[}\]])/gm)]
    .flatMap(([, names]) => names!.match(/\w+/g)!)
    .filter((name) => name !== 'using');

/**
 * Writes a module whose default function runs the block and gives what it declares.
 * @param given names of the functions and clients that the reader brings
 * @param instead texts of the block that name what only its reader has, such as an address, and what stands for them
 */
export async function moduleOf(
  { page, heading, code }: Found,
  given: readonly string[] = [],
  instead: Readonly<Record<string, string>> = {},
  compilerOptions: { readonly experimentalDecorators?: boolean } = {},
): Promise<string> {
  let source = code.replace(/^export (?=(?:async )?function|const )/gm, '');
  for (const [text, other] of Object.entries(instead)) {
    if (!source.includes(text)) throw new Error(`${page}, ${heading}: there is no ${text}`);
    source = source.replaceAll(text, () => other);
  }
  const imports = source.match(/^import [^;]*;\n?/gm) ?? [];
  const body = imports.reduce((rest, line) => rest.replace(line, ''), source);
  const head = imports.join('').replace(/'(holdfast(?:\/[\w/-]+)?)'/g, (_, name) => `'${publishedFrom(name)}'`);
  const take = given.length === 0 ? '' : `const { ${given.join(', ')} } = given;\n`;
  const names = declared(source).join(', ');
  // Types go, what only types used goes with them, and decorators become calls.
  const { code: plain } = await transform(
    `${head}export default async function (given) {\n${take}${body}\nreturn { ${names} };\n}\n`,
    { loader: 'ts', target: 'esnext', supported: { decorators: false }, tsconfigRaw: { compilerOptions } },
  );
  if (modules === 0) {
    mkdirSync(folder, { recursive: true });
    atExit(() => rmSync(folder, { recursive: true, force: true }));
  }
  const file = join(folder, `${++modules}.mjs`);
  writeFileSync(file, plain);
  return file;
}

export function found(page: string, heading: string, nth = 1): Found {
  const block = blocksOf(page).find((each) => each.heading === heading && each.nth === nth);
  if (!block) throw new Error(`${page} has no TypeScript block ${nth} under “${heading}”`);
  return block;
}

/** Runs the block once for each set of given names, all of them at the same moment, as so many processes would. */
export async function together(
  block: Found,
  givens: readonly Names[],
  instead?: Readonly<Record<string, string>>,
): Promise<PromiseSettledResult<Names>[]> {
  const names = Object.keys(givens[0] ?? {});
  const runs = await Promise.all(givens.map(async () => import(await moduleOf(block, names, instead))));
  return Promise.allSettled(givens.map((given, i) => runs[i].default(given)));
}

/** The block as a function. Each call runs it anew, as another process would. */
export function example(page: string, heading: string, nth = 1): Example {
  const block = found(page, heading, nth);
  return async (given = {}, instead = {}) =>
    (await import(await moduleOf(block, Object.keys(given), instead))).default(given);
}
