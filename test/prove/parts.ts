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
/** With more processes there are more faults in the same time, until they leave no processor to the locks. `busy` callers of each make quick holds beside. */
const CREW = { processes: 16, busy: 16 };
/** For engines that give so many no lock in time: on two processors each hand-over would take longer than the referee allows. */
const CREW_OF_SLOW = { processes: 8, busy: 4 };
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
      args: (seconds) => {
        const { processes, busy } = SLOW.includes(site.engine) ? CREW_OF_SLOW : CREW;
        return [
          ...['test/torture/everywhere.ts', engine, '--json', '--broken', 'none'],
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
      args: (seconds) => ['test/hosts/main.ts', name, '--json', '--for', `${seconds}`, '--seed', `${round}`],
    }),
  ),
  ...OWNED.map(
    ({ name, hurts }): Part => ({
      name: `owner ${name}`,
      share: 0.2 / OWNED.length,
      // Each kind of hurt once, with peace around it.
      least: 20 + 12 * hurts.length,
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
