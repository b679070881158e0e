import type { EngineName } from '../../src/connect/registry.ts';
import { HOSTED_SITES } from '../hosts/sites.ts';
import { everyone } from '../rivals/run.ts';
import { OWNED } from '../torture/owner/owned.ts';
import { INSTALLABLE, type Tortured } from '../torture/tortured.ts';

/** What `npm run prove` runs: programs that print lines of JSON, each with its share of the time. */
export interface Part {
  readonly name: string;
  /** Of all the time; 0 for what takes as long as it takes. */
  readonly share: number;
  /** Seconds below which it shows nothing. Default 5. */
  readonly least?: number;
  /** The code that it runs: the lock alone, or what is built on it, too. */
  readonly runs: 'lock' | 'all';
  args(seconds: number): readonly string[];
}

/** Random histories of one round have seeds of their own. */
const HISTORIES = 1_000_000;
/** Runs of torture of one round have seeds of their own, too. */
const RUNS = 10_000;
/** With more processes there are more faults in the same time, until they leave no processor to the locks. `busy` callers of each make quick holds beside. */
const CREW = { processes: 16, busy: 16 };
/** For engines that give so many no lock in time: on two processors each hand-over would take longer than the referee allows. */
const CREW_OF_SLOW = { processes: 8, busy: 4 };
const SLOW: readonly EngineName[] = ['mysql', 'nats', 's3', 'dynamodb'];
/** Engines that give hundreds of locks a second get more time, since the sum of the locks grows fastest there. Each other one has the weight 1. */
const WEIGHTS: Partial<Record<EngineName, number>> = { file: 3, redis: 8, 'redis-plain': 8, redisson: 8 };
const weightOf = ({ site }: Tortured): number => WEIGHTS[site.engine] ?? 1;
const TORTURE_WEIGHT = INSTALLABLE.reduce((sum, each) => sum + weightOf(each), 0);
/** How many keys at a time. With more of them the disk of a database answers later than a memo waits. ZooKeeper has no callers but processes. */
const MEMO_LANES: Readonly<Record<string, readonly string[]>> = {
  ...{ file: ['100'], redis: ['100'], postgres: ['25'], mysql: ['25'], etcd: ['25'] },
  ...{ 'redis, processes': ['8', '--real'], 'zookeeper, processes': ['4', '--real'] },
};

/** @param round the first is 1. Seeds change from round to round, or a second one would show nothing new. */
export const parts = (round: number): readonly Part[] => [
  { name: 'suite', share: 0, runs: 'all', args: () => ['scripts/test.mjs'] },
  {
    name: 'known bugs',
    share: 0,
    runs: 'all',
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
    runs: 'all',
    args: (seconds) => ['test/mutation/main.ts', '--json', '--for', `${seconds}s`],
  },
  {
    name: 'simulation',
    share: 0.1,
    runs: 'lock',
    args: (seconds) => [
      ...['test/prove/simulate.ts', '--for', `${seconds}`],
      ...['--seed', `${(round - 1) * HISTORIES + 1}`],
    ],
  },
  ...(['memory', 'file'] as const).map(
    (server): Part => ({
      name: `exploration of ${server}`,
      share: 0.05,
      runs: 'lock',
      args: (seconds) => [
        ...['test/exploration/long.ts', '--server', server],
        ...['--minutes', `${seconds / 60}`, '--seed', `${(round - 1) * HISTORIES + 1}`],
      ],
    }),
  ),
  ...INSTALLABLE.map(
    (tortured): Part => ({
      name: `torture ${tortured.name}`,
      share: (0.25 * weightOf(tortured)) / TORTURE_WEIGHT,
      least: 10,
      runs: 'lock',
      args: (seconds) => {
        const { processes, busy } = SLOW.includes(tortured.site.engine) ? CREW_OF_SLOW : CREW;
        return [
          ...['test/torture/everywhere.ts', tortured.name, '--json', '--broken', 'none'],
          ...['--processes', `${processes}`, '--busy', `${busy}`],
          ...['--for', `${seconds}`, '--seed', `${(round - 1) * RUNS + 1}`],
        ];
      },
    }),
  ),
  ...Object.keys(HOSTED_SITES).map(
    (name): Part => ({
      name: `hosts ${name}`,
      share: 0.1 / Object.keys(HOSTED_SITES).length,
      least: 30,
      runs: 'lock',
      args: (seconds) => ['test/hosts/main.ts', name, '--json', '--for', `${seconds}`, '--seed', `${round}`],
    }),
  ),
  ...OWNED.map(
    ({ name, hurts }): Part => ({
      name: `owner ${name}`,
      share: 0.2 / OWNED.length,
      runs: 'lock',
      // Each kind of hurt once, with peace around it.
      least: 20 + 12 * hurts.length,
      args: (seconds) => ['test/torture/owner/main.ts', name, '--json', '--for', `${seconds}`, '--seed', `${round}`],
    }),
  ),
  ...Object.entries(MEMO_LANES).map(
    ([name, lanes]): Part => ({
      name: `memos ${name}`,
      share: 0.1 / Object.keys(MEMO_LANES).length,
      least: 20,
      runs: 'lock',
      args: (seconds) => [
        ...['test/memo/faults/main.ts', '--engines', name.split(',')[0]!, '--json', '--lanes', ...lanes],
        ...['--for', `${seconds}s`, '--seed', `${(round - 1) * RUNS + 1}`],
      ],
    }),
  ),
  {
    name: 'peers',
    share: 0.05,
    least: 20,
    runs: 'lock',
    args: (seconds) => {
      const each = Math.max(20, Math.round(seconds / everyone().length));
      return ['test/rivals/main.ts', '--json', '--page', '--for', `${each}`, '--seed', `${round}`];
    },
  },
];
