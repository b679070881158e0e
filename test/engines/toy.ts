import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../kit/folder.ts';

const root = new URL('../../', import.meta.url).pathname;

/** What one writes for a new engine: its folder, its page, its row of the registry, and its tests. */
const TOY: Readonly<Record<string, string>> = {
  'src/backends/toy/index.ts': `import { register } from '../register/index.ts';
import { DatabaseSync } from 'node:sqlite';
import type { Backend } from '../../core/index.ts';
import { invalid } from '../../core/index.ts';
import type { RegisterOptions, RegisterStore } from '../register/index.ts';

const table = (db: DatabaseSync): RegisterStore => {
  db.exec('PRAGMA busy_timeout = 2000; CREATE TABLE IF NOT EXISTS locks (key TEXT PRIMARY KEY, text TEXT, version TEXT)');
  const find = db.prepare('SELECT text, version FROM locks WHERE key = ?');
  const keys = db.prepare('SELECT key FROM locks WHERE substr(key, 1, length(?)) = ?');
  const make = db.prepare('INSERT INTO locks VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const change = db.prepare('UPDATE locks SET text = ?, version = ? WHERE key = ? AND version = ?');
  return {
    name: 'toy',
    async read(key) {
      const row = find.get(key) as { text: string; version: string } | undefined;
      return row && { text: row.text, version: row.version };
    },
    async write(key, text, ifVersion) {
      const version = crypto.randomUUID();
      const { changes } =
        ifVersion === undefined ? make.run(key, text, version) : change.run(text, version, key, ifVersion);
      return changes === 1 && version;
    },
    async *list(prefix) {
      for (const { key } of keys.all(prefix, prefix)) yield key as string;
    },
    async remove(key) {
      db.prepare('DELETE FROM locks WHERE key = ?').run(key);
    },
  };
};

/** Locks in a table of a file of SQLite. @example const locks = createLocks(toy('locks.db')); */
export function toy(path: string, options: RegisterOptions = {}): Backend {
  if (typeof path !== 'string') throw invalid('toy() needs a path');
  return register(table(new DatabaseSync(path)), options);
}
`,
  'docs/backends/toy.md': `# Toy

Locks in a toy.

<!-- rows of other pages, where \`npm run format\` writes them
README: | Toy | a table of SQLite | [toy](toy.md) |
README.zh-CN: | Toy | SQLite 里的一张表 | [toy](toy.md) |
cli: | Toy | \`toybox:./toy.db\` |
cli.zh-CN: | Toy | \`toybox:./toy.db\` |
which-lock: | a toy | [toy](toy.md) | it is there |
which-lock.zh-CN: | 玩具 | [toy](toy.md) | 已经在了 |
traits: | toy | mutex, readers, permits | yes | yes | polled | yes | no |
traits.zh-CN: | toy | 互斥、读写、许可 | 是 | 有 | 轮询 | 是 | 否 |
promises: | Toy | promise | never | in the process | with the process | promise | nothing |
topologies: | Toy | one process | \`toy\` | no run | no run |
pages: [Toy](toy.md)
pages.zh-CN: [Toy](toy.md)
-->
`,
  'test/backends/toy/engine.ts': `import { join } from 'node:path';
import { type EngineRow, server } from '../../kit/engine-row.ts';
import { temporaryFolder } from '../../kit/folder.ts';

export const engine: EngineRow = {
  needs: [],
  sites: {
    toy: {
      start: server(async () => {
        const folder = temporaryFolder();
        const url = \`toybox:\${join(folder.path, 'toy.db')}\`;
        return { url, [Symbol.asyncDispose]: async () => folder[Symbol.dispose]() };
      }),
    },
  },
  async options() {
    const { toy } = await import('../../../src/backends/toy/index.ts');
    return { toy: { call: (options) => toy(':memory:', options) } };
  },
};
`,
};
const TOY_ROW = `const toyUrl: EngineUrl = {
  schemes: ['toybox'],
  example: 'toybox:./toy.db',
  ports: { 4711: 'toybox' },
  params: ['prefix'],
  async open(address) {
    const { toy } = await import('../backends/toy/index.ts');
    const prefix = address.params.get('prefix');
    return openEngine(address, toy(\`/\${address.path}\`, prefix === null ? {} : { prefix }));
  },
};
`;

const TREE = [
  'src',
  'products',
  'docs',
  'site',
  'test',
  'bench',
  'scripts',
  '.github',
  'package.json',
  'tsconfig.json',
];

/** This repository with it. */
export function treeWithToy() {
  const folder = temporaryFolder();
  for (const path of [...TREE, 'README.md', 'README.zh-CN.md'])
    cpSync(join(root, path), join(folder.path, path), {
      recursive: true,
      filter: (from) => !/\/(results|\.vitepress|node_modules)$/.test(from),
    });
  symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
  for (const [path, text] of Object.entries(TOY)) {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true });
    writeFileSync(join(folder.path, path), text);
  }
  const registry = join(folder.path, 'src/connect/registry.ts');
  writeFileSync(
    registry,
    readFileSync(registry, 'utf8')
      .replace(
        "import type { EngineUrl } from './engine.ts';",
        "import { type EngineUrl, openEngine } from './engine.ts';",
      )
      .replace(/^const REGISTRY/m, `${TOY_ROW}\nconst REGISTRY`)
      .replace(/^\} as const satisfies/m, '  toy: toyUrl,\n$&'),
  );
  return folder;
}
