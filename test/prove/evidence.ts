import { availableParallelism, totalmem } from 'node:os';
import { rate } from '../mutation/table.ts';
import type { Result } from './result.ts';

type Results = readonly (readonly [part: string, result: Result | undefined])[];
interface Count {
  readonly done: number;
  readonly effective: number;
}

const row = (...cells: unknown[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly string[]): string =>
  [row(...head), row(...head.map(() => '---')), ...rows].join('\n');
const number = (count: number): string => count.toLocaleString('en-US');
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const words = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ') || '-';
const effective = (faults: Record<string, Count>): number =>
  Object.values(faults).reduce((sum, each) => sum + each.effective, 0);

function tortured(results: readonly Result[]): string {
  const lines = results.flatMap(({ lines }) => lines).filter(({ totals }) => totals);
  const rows = lines.map(({ engine, ran, outcome, totals, faults, broken, staleWrites, staleRefused, seed }) =>
    row(
      ...[engine, seconds(ran), number(totals.holds), effective(faults), broken.exclusion ?? 0, broken.tokens ?? 0],
      ...[broken['wake-ups'] ?? 0, `${staleRefused} of ${staleWrites}`, seconds(totals.longestWait), seed, outcome],
    ),
  );
  const kinds: Record<string, number> = {};
  for (const { faults } of lines)
    for (const [kind, { effective }] of Object.entries(faults as Record<string, Count>))
      kinds[kind] = (kinds[kind] ?? 0) + effective;
  const head = ['engine', 'for', 'holds', 'faults that hit', 'two inside', 'tokens wrong', 'wake-ups lost'];
  const holds = lines.reduce((sum, { totals }) => sum + totals.holds, 0);
  const hits = lines.reduce((sum, { faults }) => sum + effective(faults), 0);
  return [
    table([...head, 'late writes refused', 'longest wait', 'seed', 'verdict'], rows),
    `Together ${number(holds)} holds and ${number(hits)} faults that hit something: ${words(kinds)}. The verdict *nothing* means that too little happened to say anything.`,
  ].join('\n\n');
}

const owned = (results: readonly Result[]): string =>
  table(
    ['server', 'looked at', 'for', 'holds', 'done to the server', 'other faults that hit', 'broken', 'verdict'],
    results
      .flatMap(({ lines }) => lines)
      .map(({ name, promise, outcome, ran, totals, faults, counts, broken }) =>
        row(
          name,
          promise,
          seconds(ran),
          number(totals.holds),
          words(counts),
          effective(faults),
          words(broken),
          outcome,
        ),
      ),
  );

const rivals = (results: readonly Result[]): string =>
  table(
    ['library', 'on', 'for', 'holds', 'faults that hit', 'two inside', 'late writes', 'of these taken', 'other'],
    results
      .flatMap(({ lines }) => lines)
      .map(({ name, on, ran, totals, faults, broken, staleWrites, staleRefused }) => {
        const { exclusion = 0, register: _, ...other } = broken;
        const taken = staleWrites - staleRefused;
        return row(
          name,
          on,
          seconds(ran),
          number(totals.holds),
          effective(faults),
          exclusion,
          staleWrites,
          taken,
          words(other),
        );
      }),
  );

const simulated = (results: readonly Result[]): string =>
  table(
    ['servers', 'random histories', 'from seed', 'broken'],
    results
      .flatMap(({ lines }) => lines)
      .map(({ nodes, histories, from, broken }) => row(nodes, number(histories), from, broken.length)),
  );

const explored = (results: readonly Result[]): string =>
  table(
    ['plot', 'how', 'faults up to', 'schedules', 'all there are', 'broken'],
    results
      .flatMap(({ lines }) => lines)
      .map(({ plot, how, faults, schedules, exhausted, failure, message }) =>
        row(plot, how, faults, number(schedules), exhausted ? 'yes' : 'no', failure || message ? 'yes' : 'no'),
      ),
  );

const bugs = (results: readonly Result[]): string =>
  results
    .map(({ printed }) => {
      const [, passed, failed] = /(\d+) passed, (\d+) failed/.exec(printed) ?? [];
      return `${passed ?? '?'} tests passed and ${failed ?? '?'} failed, of [the table](known-bugs.md), of all planted defects of the core, the quorum and the conformance suite, and of the models with their twins.`;
    })
    .join('\n');

const mutants = (results: readonly Result[]): string =>
  [
    table(
      ['folder', 'mutants', 'killed', 'survived', 'equivalent', 'not run yet', 'killed of those that count'],
      results
        .flatMap(({ lines }) => lines)
        .map((each) => {
          const { of, mutants, killed, survived, equivalent, unrun } = each;
          return row(`\`${of}\``, ...[mutants, killed, survived, equivalent, unrun].map(number), rate(each));
        }),
    ),
    'Survived: no test of those that were run fails, or none comes by. Equivalent: a reason says why no test can tell it from the sources, in `test/mutation/equivalent.ts`.',
  ].join('\n\n');

const SECTIONS: readonly [title: string, begins: string, how: string, write: (results: readonly Result[]) => string][] =
  [
    ['Torture', 'torture', '`npm run torture -- --busy 8 --broken none`, [what it does](guides/torture.md)', tortured],
    ['Faults of the server', 'owner', '`npm run torture:owner`', owned],
    ['Random histories', 'simulation', '`node test/prove/simulate.ts`', simulated],
    [
      'Orders of messages',
      'exploration',
      '`node test/exploration/long.ts`, [what it does](decisions/exploration.md)',
      explored,
    ],
    ['Known bugs', 'known bugs', '`npm test -- test/known-bugs test/testing/mutants.test.ts …`', bugs],
    ['Mutants', 'mutants', '`npm run mutants`, [what it does](decisions/mutants.md)', mutants],
    [
      'Other libraries',
      'rival',
      '`npm run rivals`; a lease of 2 s for each (of `proper-lockfile` it is 10 s by default), and else the settings of their documents',
      rivals,
    ],
  ];

/** docs/evidence.md. Pure. */
export function evidence(results: Results): string {
  const done = results.flatMap(([, result]) => result ?? []);
  const missing = results.filter(([, result]) => !result).map(([part]) => part);
  const failed = done.filter(({ code, part }) => code !== 0 && !part.startsWith('rival')).map(({ part }) => part);
  const dates = done.map(({ date }) => date.slice(0, 16).replace('T', ' ')).toSorted();
  const commits = [...new Set(done.map(({ commit }) => commit))];
  const minutes = Math.round(done.reduce((sum, each) => sum + each.seconds, 0) / 60);
  const sections = SECTIONS.map(([title, begins, how, write]) => {
    const own = done.filter(({ part }) => part.startsWith(begins));
    return [`## ${title}`, `By ${how}.`, own.length > 0 ? write(own) : 'Not run.'].join('\n\n');
  });
  const unlisted = [
    ...missing.map((part) => `- ${part}`),
    '- MongoDB: there was no server to run it on.',
    '- MySQL itself: MariaDB was run.',
    '- Fail-over on Sentinel and Cluster, and servers that lose their data: tests of the suite do that, and this page does not count them.',
    '- Slow disks, and the failure of a majority under torture.',
    '- A network between machines: all processes and servers were on one.',
  ];
  return `${[
    '# Evidence',
    `What was run, and what came of it. Written by \`npm run prove\` from its results, of ${dates[0]?.slice(0, 10) ?? 'no day'} (${dates.at(0)} to ${dates.at(-1)} UTC), commit ${commits.join(', ')}, on ${availableParallelism()} cores and ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}: ${minutes} minutes of parts, some of them at the same time. That nothing was found in so long shows so much, and no more; run it for longer with \`npm run prove -- --for 8h --again\`. [What is promised](promises.md).`,
    failed.length > 0
      ? `**Not as it should be, in this run:** ${failed.join(', ')}.`
      : 'Every part ended as it should.',
    ...sections,
    '## What was not run',
    unlisted.join('\n'),
  ].join('\n\n')}\n`;
}
