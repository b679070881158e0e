/** What `npm run prove` runs: programs that print lines of JSON, each with its share of the time. */
export interface Part {
  readonly name: string;
  /** Of all the time; 0 for what takes as long as it takes. */
  readonly share: number;
  /** Seconds below which it shows nothing. Default 5. */
  readonly least?: number;
  args(seconds: number): readonly string[];
}

const ENGINES = [
  'file',
  'redis',
  'redis-sentinel',
  'redis-cluster',
  'redlock',
  'postgres',
  'mysql',
  'etcd',
  'zookeeper',
] as const;
const OWNED = ['redis,', 'redlock', 'postgres', 'mysql', 'etcd, one', 'etcd over', 'zookeeper'] as const;
const RIVALS = ['redlock', 'redis-semaphore', '@verrou/core', 'proper-lockfile', 'holdfast'] as const;

/** Seeds change from run to run, or a second one would show nothing new. */
export const parts = (seed: number): readonly Part[] => [
  {
    name: 'known bugs',
    share: 0,
    args: () => [
      'scripts/test.mjs',
      'test/known-bugs',
      'test/testing/mutants.test.ts',
      'test/simulation/mutants.test.ts',
      'test/models.test.ts',
    ],
  },
  {
    name: 'mutants',
    share: 0.1,
    args: (seconds) => ['test/mutation/main.ts', '--json', '--for', `${seconds}s`],
  },
  {
    name: 'simulation',
    share: 0.1,
    args: (seconds) => ['test/prove/simulate.ts', '--for', `${seconds}`, '--seed', `${seed}`],
  },
  {
    name: 'exploration',
    share: 0.1,
    args: (seconds) => ['test/exploration/long.ts', '--minutes', `${seconds / 60}`, '--seed', `${seed}`],
  },
  ...ENGINES.map(
    (engine): Part => ({
      name: `torture ${engine}`,
      share: 0.35 / ENGINES.length,
      least: 10,
      args: (seconds) => [
        ...['test/torture/everywhere.ts', engine, '--json', '--broken', 'none', '--busy', '8'],
        ...['--for', `${seconds}`, '--seed', `${seed}`],
      ],
    }),
  ),
  ...OWNED.map(
    (name): Part => ({
      name: `owner ${name.replace(',', '')}`,
      share: 0.2 / OWNED.length,
      least: 30,
      args: (seconds) => ['test/torture/owner.ts', name, '--json', '--for', `${seconds}`, '--seed', `${seed}`],
    }),
  ),
  ...RIVALS.map(
    (name): Part => ({
      name: `rival ${name.replace('/', ' ')}`,
      share: 0.15 / RIVALS.length,
      least: 20,
      args: (seconds) => ['test/rivals/main.ts', name, '--json', '--for', `${seconds}`, '--seed', `${seed}`],
    }),
  ),
];
