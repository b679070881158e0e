// Part of `npm run format`: names each engine where a list of all engines is. The engines are the rows of `src/connect/registry.ts`, in
// their order. A page of an engine ends with the rows that it has in tables of other pages, whose places are between two comments.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENGINES } from '../test/kit/engines.ts';
import { isOptional } from '../test/kit/programs.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const names = Object.keys(ENGINES);
const english = globSync('docs/backends/*.md', { cwd: root }).filter((page) => !page.endsWith('.zh-CN.md'));

/** The name of the page of an engine, under `docs/backends`: its own, or that of several engines, which imports it. */
export function pageOfEngine(engine) {
  const own = `docs/backends/${engine}.md`;
  const page = existsSync(join(root, own)) ? own : english.find((each) => read(each).includes(`'holdfast/${engine}'`));
  if (!page) throw new Error(`no page under docs/backends is about ${engine}: write ${own}`);
  return posix.basename(page, '.md');
}

const ROWS = /\n<!-- rows of other pages[^\n]*\n(.*?)\n-->\n/s;
const BLOCK = /(<!-- engines: (\S+) -->)(.*?)(<!-- end -->)/gs;

/** The pages that have rows for others, in the order of their engines; then those of no engine. */
function pagesWithRows() {
  const ofEngines = names.map((name) => `docs/backends/${pageOfEngine(name)}.md`);
  const all = globSync('docs/**/*.md', { cwd: root }).map((page) => page.replaceAll('\\', '/'));
  const rest = all.filter((page) => !page.endsWith('.zh-CN.md')).sort();
  const pages = [...new Set([...ofEngines, ...rest])];
  return pages.flatMap((page) => [page, page.replace(/\.md$/, '.zh-CN.md')]).filter((page) => all.includes(page));
}

/** What the pages say of themselves, by the tables that it is for. */
export function rowsByTable() {
  const rows = {};
  for (const page of pagesWithRows())
    for (const line of ROWS.exec(read(page))?.[1].split('\n') ?? []) {
      const [, table, row] = /^(\S+): (.*)$/.exec(line) ?? [];
      if (!table) throw new Error(`${page}: a row begins with the name of its table and a colon, not: ${line}`);
      rows[table] = [...(rows[table] ?? []), { page, row }];
    }
  return rows;
}

/** A link that is written for `from` as it has to be on `to`. */
const moved = (row, from, to) =>
  row.replace(/\]\((?!https?:)([^)#\s]+)/g, (_, link) => {
    const target = posix.join(posix.dirname(from), link);
    return `](${posix.relative(posix.dirname(to), target)}`;
  });

/** A page with its tables as the rows have them. A table keeps its head; what is no table is a list in one line. */
function withRows(path, rows) {
  return read(path).replace(BLOCK, (_, begin, table, old, end) => {
    const made = (rows[table] ?? []).map(({ page, row }) => moved(row, page, path));
    if (!old.startsWith('\n')) return `${begin}${made.join(' · ')}${end}`;
    const head = old.trim().split('\n').slice(0, 2);
    return `${begin}\n\n${[...head, ...made].join('\n')}\n\n${end}`;
  });
}

/** The subpath of each engine, behind that of what engines are made with. */
function manifest() {
  const was = read('package.json');
  const made = JSON.parse(was);
  const sourceOf = (name) => (existsSync(join(root, `src/backends/${name}.ts`)) ? name : `${name}/index`);
  const among = (all, first, entryOf) => {
    const others = Object.entries(all).filter(([key]) => !names.includes(key.replace('./', '')));
    const at = others.findIndex(([key]) => key === first) + 1;
    const prefix = first.startsWith('./') ? './' : '';
    return Object.fromEntries(
      others.toSpliced(at, 0, ...names.map((name) => [prefix + name, entryOf(`./dist/backends/${sourceOf(name)}`)])),
    );
  };
  made.exports = among(made.exports, './backend', (file) => ({ types: `${file}.d.ts`, default: `${file}.js` }));
  made.typesVersions['*'] = among(made.typesVersions['*'], 'backend', (file) => [`${file}.d.ts`]);
  return `${JSON.stringify(made, null, 2)}\n`;
}

/** On CI those without a server share a machine, as do those of a register; those whose server nobody can install have none. */
function workflow() {
  const here = names.filter(
    (name) => !ENGINES[name].needs.some(isOptional) || ENGINES[name].needs.some((need) => !isOptional(need)),
  );
  const shareOf = (name) => (ENGINES[name].needs.length === 0 ? 'none' : ENGINES[name].register ? 'register' : name);
  const groups = [...Map.groupBy(here, shareOf).values()].map((group) => group.join(','));
  const list = groups.map((group) => (/,|^s3$/.test(group) ? `'${group}'` : group)).join(', ');
  return read('.github/workflows/ci.yml').replace(/^( +engines: ).*$/m, `$1[${list}]`);
}

/** The text of each file that lists the engines, as it has to be. */
export function written() {
  const rows = rowsByTable();
  const pages = ['README.md', 'README.zh-CN.md', ...globSync('docs/**/*.md', { cwd: root })];
  const withBlocks = pages.filter((page) => read(page).includes('<!-- engines: '));
  return {
    'package.json': manifest(),
    '.github/workflows/ci.yml': workflow(),
    ...Object.fromEntries(withBlocks.map((page) => [page, withRows(page, rows)])),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [path, text] of Object.entries(written())) if (read(path) !== text) writeFileSync(join(root, path), text);
