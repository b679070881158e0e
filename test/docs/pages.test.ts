import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { rows } from '../../bench/rows/index.ts';
import { COMMANDS } from '../../products/cli/commands/index.ts';
import { createStock, memoryStock } from '../../products/stock/index.ts';
import { pageOfEngine } from '../../scripts/write-engines.mjs';
import { memory } from '../../src/backends/memory.ts';
import type { EngineUrl } from '../../src/connect/engine.ts';
import { channels } from '../../src/core/contract/events.ts';
import { LOCK_OPTIONS } from '../../src/core/contract/option-table.ts';
import { createLocks } from '../../src/index.ts';
import { leaderChannels } from '../../src/leading/events.ts';
import { tickChannels } from '../../src/once/events.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pages = ['*.md', 'docs/**/*.md', 'test/**/*.md']
  .flatMap((glob) => globSync(glob, { cwd: root, exclude: ['**/node_modules/**'] }))
  .sort();
/** Without code, in which brackets mean something else. */
const prose = (page: string): string => readFileSync(join(root, page), 'utf8').replace(/^```.*?^```/gms, '');
const headings = (page: string): string[] => [...prose(page).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading!);
/** The name GitHub gives a heading. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\- ]/gu, '')
    .replaceAll(' ', '-');

/** A quorum has no server of its own. */
const ENGINES = globSync('docs/backends/*.md', { cwd: root })
  .map((page) => basename(page, '.md'))
  .filter((engine) => !engine.includes('.') && engine !== 'redlock');
const SHARED = [
  'In one minute',
  'How it locks',
  'What it promises',
  'What it does not promise',
  'Server settings',
  'Rights',
  'Options',
  'Errors',
];

test.each(ENGINES)('the page of %s has the headings that all engines share, in their order', (engine) => {
  const seen = headings(`docs/backends/${engine}.md`);
  expect(seen.filter((heading) => SHARED.includes(heading))).toEqual(SHARED);
});

test.each(pages)('every link of %s leads somewhere', (page) => {
  const dead = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link!)
    .filter((link) => !/^https?:/.test(link))
    .filter((link) => {
      const [path = '', name] = link.split('#');
      const target = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(root, target))) return true;
      return name !== undefined && ![...prose(target).matchAll(/^#+ (.+)$/gm)].some(([, h]) => anchor(h!) === name);
    });
  expect(dead).toEqual([]);
});

test.each(pages)('no mark of a list or of a quotation stands inside a line of %s, where it would be shown', (page) => {
  const words = prose(page).replace(/`[^`\n]*`/g, '`');
  expect(words.match(/^.*[.。!！?？](?: [*-]| ?>) (?=\S).*$/gm) ?? []).toEqual([]);
});

test.each(pages)('every file that %s names is there', (page) => {
  const named = [...prose(page).matchAll(/`(?:node )?((?:bench|docs|examples|scripts|src|test)\/[\w./-]+)`/g)];
  expect(named.map(([, path]) => path!).filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test.each(pages)('every command that %s names is there, with its options', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  const scripts = [...text.matchAll(/npm run ([\w:]+)(?: -- ([^`#\n]*))?/g)];
  const { scripts: known } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(scripts.map(([, name]) => name!).filter((name) => !(name in known))).toEqual([]);

  const options = scripts.map(([, , rest = '']) => rest).join('\n');
  const groups = [...options.matchAll(/--only (\S+)/g)].flatMap(([, list]) => list!.split(','));
  expect(groups.filter((group) => !rows.some((row) => row.group === group))).toEqual([]);
  const titles = [...options.matchAll(/--row ['"]?([\w ]+)/g)].map(([, part]) => part!.trim());
  expect(titles.filter((part) => !rows.some(({ title }) => title.includes(part)))).toEqual([]);

  const blocks = [...text.matchAll(/^```(?:sh|bash)\n(.*?)^```/gms)].map(([, block]) => block!);
  const ours = [...blocks.join('').matchAll(/^holdfast (\w+)((?:(?! -- )[^#|>\n])*)/gm)];
  const unknown = ours.flatMap(([, name, own]) => {
    const command = COMMANDS.find((each) => each.name === name);
    const flags = [...own!.matchAll(/ --(\w[\w-]*)/g)].map(([, flag]) => flag!);
    return command ? flags.filter((flag) => !(flag in command.options)) : [name];
  });
  expect(unknown).toEqual([]);
});

test.each(pages)('%s says that holdfast is not published, where it installs it by its name', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  const byName = /np[mx] (?:install |i )?(?:-\S+ )*holdfast\b/.test(text.replace(/`npx holdfast` needs/, ''));
  expect(!byName || /not on a registry yet|还没有发布/.test(text)).toBe(true);
});

test('every test that the promises name is there', () => {
  const sources = ['test/**/*.ts', 'products/testing/**/*.ts'].flatMap((glob) =>
    globSync(glob, { cwd: root, exclude: ['**/node_modules/**'] }),
  );
  const tests = sources.map((file) => readFileSync(join(root, file), 'utf8').replaceAll("\\'", "'")).join('\n');
  const rows = prose('docs/evidence/promises.md')
    .split('\n')
    .filter((line) => line.startsWith('|'));
  const named = rows.flatMap((row) => [...row.matchAll(/(?<!\*)\*([^*|]{15,})\*(?!\*)/g)].map(([, name]) => name!));
  expect(named.length).toBeGreaterThan(30);
  // An ellipsis stands for what differs, or is too long to be told.
  const isThere = (name: string) => name.split('…').every((part) => tests.includes(part.trim()));
  expect(named.filter((name) => !isThere(name))).toEqual([]);
  // And the link behind each leads to the file that has it.
  const links = rows.flatMap((row) => [...row.matchAll(/\[\*([^*|]{15,})\*\]\(\.\.\/\.\.\/([^)]+)\)/g)]);
  expect(links.length).toBe(named.length);
  const wrong = links.filter(([, name, file]) => {
    const source = readFileSync(join(root, file!), 'utf8').replaceAll("\\'", "'");
    return !name!.split('…').every((part) => source.includes(part.trim()));
  });
  expect(wrong.map(([, name, file]) => `${file}: ${name}`)).toEqual([]);
});

test('each promise has its tests, under the same name', () => {
  const namesOf = (page: string): string[] =>
    [...prose(page).matchAll(/^\| \*\*([^*]+)\*\*/gm)].map(([, name]) => name!);
  expect(namesOf('docs/evidence/promises.md').length).toBeGreaterThan(40);
  expect(namesOf('docs/promises.md').sort()).toEqual(namesOf('docs/evidence/promises.md').sort());
});

test('the versions of clients that a page says are tested are those that are installed', () => {
  const page = prose('docs/which-lock.md');
  const said = [...page.matchAll(/`([\w-]+)` (\d+\.\d+\.\d+)/g)].map(([, name, version]) => [name!, version!]);
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(said.map(([name]) => name).sort()).toEqual(['ioredis', 'mongodb', 'mysql2', 'pg', 'redis']);
  expect(Object.fromEntries(said)).toEqual(Object.fromEntries(said.map(([name]) => [name, devDependencies[name!]])));
});

test('each error code has a row on the page of troubleshooting', () => {
  const page = prose('docs/troubleshooting.md');
  for (const source of ['src/core/contract/errors.ts', 'products/stock/errors.ts']) {
    const codes = readFileSync(join(root, source), 'utf8').matchAll(/^ {2}\| '(\w+)'/gm);
    const missing = [...codes].map(([, code]) => code).filter((code) => !page.includes(`| \`${code}\` |`));
    expect(missing, source).toEqual([]);
  }
});

test('each option of a lock, and each member of `Locks` and of a lease, has a row in the reference', async () => {
  await using locks = createLocks(memory());
  await using lease = await locks.mutex('key').acquire();
  const members = [locks, lease].flatMap((one) => Object.getOwnPropertyNames(Object.getPrototypeOf(one)));
  const named = prose('docs/reference.md')
    .match(/^\|.*?\|/gm)!
    .join('');
  const internal = ['constructor', 'hold', 'users', 'enter', 'leave', 'undo', 'releaseWith'];
  const wanted = [...LOCK_OPTIONS, ...members].filter((name) => !internal.includes(name));
  expect(wanted.filter((name) => !new RegExp(`\`${name}[\`(]`).test(named))).toEqual([]);
});

test('each channel has a row in the reference, and each field of its events', () => {
  const rows = prose('docs/reference.md');
  const all = [...Object.values(channels), ...Object.values(leaderChannels), ...Object.values(tickChannels)];
  const names = all.map(({ name }) => String(name));
  expect(names.filter((name) => !rows.includes(`| \`${name}\` |`))).toEqual([]);
  const files = ['src/core/contract/events.ts', 'src/leading/events.ts', 'src/once/events.ts'];
  const sources = files.map((file) => readFileSync(join(root, file), 'utf8'));
  const fields = [...sources.join('').matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, field]) => field!);
  expect(fields.length).toBeGreaterThan(15);
  expect(fields.filter((field) => !rows.includes(`\`${field}\``))).toEqual([]);
});

test('each option of `instrument()` has a row on the page about telemetry', () => {
  const [, options = ''] = /interface InstrumentOptions \{(.*?)^\}/ms.exec(
    readFileSync(join(root, 'src/otel/index.ts'), 'utf8'),
  )!;
  const names = [...options.matchAll(/readonly (\w+)\?:/g)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(4);
  expect(names.filter((name) => !prose('docs/guides/telemetry.md').includes(`| \`${name}\` |`))).toEqual([]);
});

test('each code that `check()` may give is on the page of its engine', () => {
  const shared = ['shared', 'redis-foreign'];
  const folders = globSync('src/backends/*/', { cwd: root }).filter((folder) => !shared.includes(basename(folder)));
  for (const folder of folders) {
    const engine = folder.split('/')[2]!;
    const sourcesOf = (folder: string): string[] =>
      globSync(`${folder}/**/*.ts`, { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'));
    const own = sourcesOf(folder);
    const sources = own.join('').includes('/redis-foreign/')
      ? [...own, ...sourcesOf('src/backends/redis-foreign')]
      : own;
    // The severity stands before it: `severity: 'info', code: 'isolation'`, or `add('info', 'isolation', …`.
    const after = sources.join('').matchAll(/'(?:info|warning|danger)',\s+(?:code: )?((?:[^,'\n]*'[a-z-]+')+)/g);
    const codes = [...after].flatMap(([, code]) => [...code!.matchAll(/'([a-z-]+)'/g)].map(([, name]) => name!));
    const page = prose(`docs/backends/${pageOfEngine(engine === 'quorum' ? 'redlock' : engine)}.md`);
    const byRegister = sources.join('').includes('/register/index.ts');
    expect(codes.length > 0 || engine === 'redlock' || byRegister, engine).toBe(true);
    expect(
      codes.filter((code) => !page.includes(`\`${code}\``)),
      engine,
    ).toEqual([]);
  }
});

test('each parameter that an address may have is on the page of the command line', async () => {
  const page = prose('docs/cli.md');
  for (const file of globSync('src/connect/engines/*.ts', { cwd: root })) {
    const exported: Record<string, Partial<EngineUrl>> = await import(join(root, file));
    const names = Object.values(exported).flatMap(({ params }) => (Array.isArray(params) ? params : []));
    expect(
      names.filter((name) => !new RegExp(`\`(\\?${name}=|${name}\`)`).test(page)),
      file,
    ).toEqual([]);
  }
});

test('each command has its part on the page of the command line', () => {
  const headings = prose('docs/cli.md').match(/^## .*$/gm)!;
  const missing = COMMANDS.filter(({ name }) => !headings.some((heading) => heading.split(/[ ,]+/).includes(name)));
  expect(missing.map(({ name }) => name)).toEqual([]);
});

test('each member of a product is on the page about selling', async () => {
  const product = await createStock(memoryStock()).create('phone', { units: 1 });
  const page = prose('docs/guides/selling-without-overselling.md');
  const members = Object.getOwnPropertyNames(Object.getPrototypeOf(product));
  const wanted = members.filter((name) => !['constructor', 'opened'].includes(name));
  expect(wanted.filter((name) => !page.includes(`\`${name}(`))).toEqual([]);
});

test('the page on writing a backend groups its calls as the contract does: those that are needed, and what each other one buys', () => {
  const contract = readFileSync(join(root, 'src/core/contract/backend.ts'), 'utf8');
  const members = (type: string): string[] => {
    const [, body] = new RegExp(`^export interface ${type}\\b[^{]*\\{\\n(.*?)^\\}`, 'ms').exec(contract)!;
    return [...body!.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, name]) => name!);
  };
  const page = readFileSync(join(root, 'docs/guides/your-own-engine.md'), 'utf8');
  const rows = (title: string): string[] => {
    const [, table] = page.split(`| ${title} |`);
    return [...table!.split('\n\n')[0]!.matchAll(/^\| `(\w+)/gm)].map(([, name]) => name!);
  };
  expect(members('Backend').slice(2)).toHaveLength(4);
  expect(rows('you give')).toEqual(members('Backend'));
  expect(rows('refinement')).toEqual(members('Refinements'));
});
