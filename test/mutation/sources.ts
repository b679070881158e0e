import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Mutant } from './mutant.ts';
import { mutantsOfScript } from './scripts.ts';
import { mutantsOf } from './typescript.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** What is mutated in a process that stays, and the tests that concern it: none of them needs a server. */
export const SOURCES =
  process.env.MUTATED ??
  'src/core,src/primitives,src/backends/quorum,src/memo,src/backends/memory.ts,src/backends/shared';
const TESTS = (
  process.env.MUTATED_BY ??
  'test/core,test/backends/memory*,test/backends/shared,test/backends/quorum,test/mutation/slices.ts,test/exploration,test/waits,test/misuse*,test/testing,test/once,test/memo,test/simulation/memo'
).split(',');
/** They start processes or servers, or say more of the tests than of the sources. */
const NOT = /old-node|unlike|counterexamples|processes|testing\/(conformance|mutants)|once\/(law|retry)/;
/** What other tests show as well, sooner: the laws on the time of day where a clock of their own has them, or with other clients; and rivals whose pauses are up to chance. */
export const NEEDLESS =
  /memory conforms|a quorum of \d memory|node-redis|mixed fleet|least rights|processes|ASK|Cluster|100000 random|rivals who split/;

const files = (patterns: readonly string[], ends: string): string[] =>
  patterns
    .flatMap((pattern) => globSync(pattern.endsWith('.ts') ? pattern : [`${pattern}`, `${pattern}/**`], { cwd: root }))
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith(ends))
    .toSorted();

export const testFiles = (): string[] =>
  [
    ...files(
      TESTS.filter((each) => each.endsWith('.ts')),
      '.ts',
    ),
    ...files(TESTS, '.test.ts'),
  ].filter((path) => !NOT.test(path));

/** Constants of engines that need servers. */
const NOT_MUTATED = /shared\/traits\.ts$/;

/** Every mutant of the sources, in an order that is the same in every process. */
export const allMutants = (sources = SOURCES): Mutant[] =>
  files(sources.split(','), '.ts')
    .filter((file) => !NOT_MUTATED.test(file))
    .flatMap((file) => mutantsOf(file, readFileSync(`${root}${file}`, 'utf8')));

export const numbered = (mutants: readonly Mutant[]): Map<string, number> =>
  new Map(mutants.map(({ id }, number) => [id, number]));

interface Engine {
  readonly scripts: string;
  readonly tests: string;
  /** Servers that are needed; undefined is all. */
  readonly parts?: string;
  /** Of these scripts only these tests are asked; of the others all. */
  readonly about?: readonly { readonly scripts: RegExp; readonly tests: RegExp }[];
}
const testsOf = (folder: string, names: string): string =>
  names
    .split(',')
    .map((name) => `test/${folder}/${name}.test.ts`)
    .join();

/** Whose scripts are mutated, and the tests that run them. */
export const ENGINES: Readonly<Record<string, Engine>> = {
  redis: {
    scripts: 'src/backends/redis/lua/**/*.lua',
    tests: testsOf(
      'backends/redis',
      'conformance,tokens,portions,turn,line,line-keys,listing,keys,server,cost,renewal,words',
    ),
    about: [{ scripts: /values\.lua/, tests: /conformance|words/ }],
  },
  stock: {
    scripts: 'products/stock/redis/lua/*.lua',
    tests: testsOf('stock', 'redis-steps,redis,conformance,rule,ordinary'),
    parts: 'redis',
    about: [{ scripts: /./, tests: /redis/i }],
  },
  postgres: {
    scripts: 'src/backends/postgres/sql/*.sql',
    tests: testsOf('backends/postgres', 'conformance,lease,sweep,hand-overs,revision,refusals,scripts,advisory'),
    about: [
      { scripts: /advisory\.sql/, tests: /advisory/i },
      { scripts: /./, tests: /^(?!.*advisory)/i },
    ],
  },
  mysql: {
    scripts: 'src/backends/mysql/sql/*.sql',
    tests: testsOf('backends/mysql', 'line,keys,values,session,table,lease,named,waiting'),
    about: [
      { scripts: /(named|server|table)\.sql/, tests: /./ },
      { scripts: /./, tests: /^(?!.*named)/ },
    ],
  },
  file: {
    scripts: 'src/backends/file/sql/*.sql',
    tests: 'test/backends/file.test.ts,test/backends/file/store.test.ts',
  },
};

export const scriptMutants = (engine: string): Mutant[] =>
  globSync(ENGINES[engine]!.scripts, { cwd: root })
    .toSorted()
    .flatMap((file) => mutantsOfScript(file, readFileSync(`${root}${file}`, 'utf8')));
