import type { EngineName } from '../../src/connect/registry.ts';
import { HOSTED_SITES } from '../hosts/sites.ts';
import { everyone } from '../rivals/run.ts';
import { OWNED } from '../torture/owner/owned.ts';
import { INSTALLABLE } from '../torture/tortured.ts';

/** What `npm run prove` runs: programs that print lines of JSON, each with its share of the time. */
export interface Part {
  readonly name: string;
  /** Of all the time; 0 for what takes as long as it takes. */
  readonly share: number;
  /** Seconds below which it shows nothing. Default 5. */
  readonly least?: number;
  args(seconds: number): readonly string[];
}

/** Random histories of one round have seeds of their own. */
const HISTORIES = 1_000_000;
/** Runs of torture of one round have seeds of their own, too. */
const RUNS = 10_000;
/** With more processes there are more faults in the same time, until they leave no processor to the locks. */
const PROCESSES = 16;
/**
 * So many callers of each process make quick holds beside. Fewer where so many leave the server of two processors no time: then each hand-over
 * takes longer than the referee allows.
 */
const BUSY = 16;
const BUSY_OF_SLOW = 4;
const SLOW: readonly EngineName[] = ['mysql', 'nats', 's3', 'dynamodb'];

/** @param round the first is 1. Seeds change from round to round, or a second one would show nothing new. */
export const parts = (round: number): readonly Part[] => [
  { name: 'suite', share: 0, args: () => ['scripts/test.mjs'] },
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
    args: (seconds) => [
      ...['test/prove/simulate.ts', '--for', `${seconds}`],
      ...['--seed', `${(round - 1) * HISTORIES + 1}`],
    ],
  },
  ...(['memory', 'file'] as const).map(
    (server): Part => ({
      name: `exploration of ${server}`,
      share: 0.05,
      args: (seconds) => [
        ...['test/exploration/long.ts', '--server', server],
        ...['--minutes', `${seconds / 60}`, '--seed', `${(round - 1) * HISTORIES + 1}`],
      ],
    }),
  ),
  ...INSTALLABLE.map(
    ({ name: engine, site }): Part => ({
      name: `torture ${engine}`,
      share: 0.25 / INSTALLABLE.length,
      least: 10,
      args: (seconds) => [
        ...['test/torture/everywhere.ts', engine, '--json', '--broken', 'none'],
        ...['--busy', `${SLOW.includes(site.engine) ? BUSY_OF_SLOW : BUSY}`],
        ...['--processes', `${PROCESSES}`, '--for', `${seconds}`, '--seed', `${(round - 1) * RUNS + 1}`],
      ],
    }),
  ),
  ...Object.keys(HOSTED_SITES).map(
    (name): Part => ({
      name: `hosts ${name}`,
      share: 0.1 / Object.keys(HOSTED_SITES).length,
      least: 30,
      args: (seconds) => ['test/hosts/main.ts', name, '--json', '--for', `${seconds}`, '--seed', `${round}`],
    }),
  ),
  ...OWNED.map(
    ({ name }): Part => ({
      name: `owner ${name}`,
      share: 0.2 / OWNED.length,
      // Each kind of hurt once, with peace around it.
      least: 50,
      args: (seconds) => ['test/torture/owner/main.ts', name, '--json', '--for', `${seconds}`, '--seed', `${round}`],
    }),
  ),
  {
    name: 'peers',
    share: 0.15,
    least: 20,
    args: (seconds) => {
      const each = Math.max(20, Math.round(seconds / everyone().length));
      return ['test/rivals/main.ts', '--json', '--page', '--for', `${each}`, '--seed', `${round}`];
    },
  },
];
