import { availableParallelism, totalmem } from 'node:os';
import { rate } from '../mutation/table.ts';
import type { Result } from './result.ts';

type Results = readonly (readonly [part: string, rounds: readonly Result[]])[];
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

// biome-ignore lint/suspicious/noExplicitAny: each program has lines of its own.
type Line = any;

const linesOf = (results: readonly Result[]): readonly Line[] => results.flatMap(({ lines }) => lines);
/** Of all rounds, by what they are about. */
const grouped = (lines: readonly Line[], by: (line: Line) => string): readonly (readonly Line[])[] => [
  ...Map.groupBy(lines, by).values(),
];
const sum = (lines: readonly Line[], of: (line: Line) => number | undefined): number =>
  lines.reduce((total: number, line) => total + (of(line) ?? 0), 0);
const most = (lines: readonly Line[], of: (line: Line) => number): number => Math.max(...lines.map(of));
/** Counts by kind, of all together. */
function added(counts: readonly Record<string, number>[]): Record<string, number> {
  const all: Record<string, number> = {};
  for (const each of counts) for (const [kind, count] of Object.entries(each)) all[kind] = (all[kind] ?? 0) + count;
  return all;
}
const outcomes = (lines: readonly Line[]): string => words(added(lines.map(({ outcome }) => ({ [outcome]: 1 }))));

function tortured(results: readonly Result[]): string {
  const lines = linesOf(results).filter(({ totals }) => totals);
  const rows = grouped(lines, ({ engine }) => engine).map((rounds) => {
    const broken = (kind: string): number => sum(rounds, (line) => line.broken[kind]);
    return row(
      ...[rounds[0].engine, seconds(sum(rounds, ({ ran }) => ran)), number(sum(rounds, ({ totals }) => totals.holds))],
      ...[number(sum(rounds, ({ faults }) => effective(faults))), broken('exclusion'), broken('tokens')],
      ...[broken('wake-ups'), `${sum(rounds, (l) => l.staleRefused)} of ${sum(rounds, (l) => l.staleWrites)}`],
      ...[seconds(most(rounds, ({ totals }) => totals.longestWait)), outcomes(rounds)],
    );
  });
  const kinds = added(
    lines.map(({ faults }) =>
      Object.fromEntries(Object.entries(faults as Record<string, Count>).map(([kind, of]) => [kind, of.effective])),
    ),
  );
  const head = ['engine', 'for', 'locks taken', 'faults that hit', 'two inside', 'tokens wrong', 'wake-ups lost'];
  const holds = number(sum(lines, ({ totals }) => totals.holds));
  const hits = number(sum(lines, ({ faults }) => effective(faults)));
  const nothing = lines.some(({ outcome }) => outcome === 'nothing')
    ? ' The verdict *nothing* means that too little happened to say anything.'
    : '';
  return [
    table([...head, 'late writes refused', 'longest wait', 'verdicts'], rows),
    `Together ${holds} locks taken and ${hits} faults that hit something: ${words(kinds)}.${nothing}`,
  ].join('\n\n');
}

const owned = (results: readonly Result[]): string =>
  table(
    ['server', 'looked at', 'for', 'locks taken', 'done to the server', 'other faults that hit', 'broken', 'verdicts'],
    grouped(linesOf(results), ({ name }) => name).map((rounds) =>
      row(
        ...[rounds[0].name, rounds[0].promise, seconds(sum(rounds, ({ ran }) => ran))],
        ...[number(sum(rounds, ({ totals }) => totals.holds)), words(added(rounds.map(({ counts }) => counts)))],
        sum(rounds, ({ faults }) => effective(faults)),
        ...[words(added(rounds.map(({ broken }) => broken))), outcomes(rounds)],
      ),
    ),
  );

const rivals = (results: readonly Result[]): string =>
  table(
    [
      'library',
      'on',
      'for',
      'locks taken',
      'faults that hit',
      'two held it at once',
      'late writes',
      'late writes accepted',
      'other',
    ],
    grouped(linesOf(results), ({ name, on }) => `${name} ${on}`).map((rounds) => {
      const { exclusion = 0, register: _, ...other } = added(rounds.map(({ broken }) => broken));
      const late = sum(rounds, ({ staleWrites }) => staleWrites);
      return row(
        ...[rounds[0].name, rounds[0].on, seconds(sum(rounds, ({ ran }) => ran))],
        ...[number(sum(rounds, ({ totals }) => totals.holds)), sum(rounds, ({ faults }) => effective(faults))],
        ...[exclusion, late, late - sum(rounds, ({ staleRefused }) => staleRefused), words(other)],
      );
    }),
  );

const simulated = (results: readonly Result[]): string =>
  table(
    ['servers', 'random histories', 'seeds from', 'broken'],
    grouped(linesOf(results), ({ nodes }) => nodes).map((rounds) =>
      row(
        ...[rounds[0].nodes, number(sum(rounds, ({ histories }) => histories))],
        ...[rounds.map(({ from }) => number(from)).join('; '), sum(rounds, ({ broken }) => broken.length)],
      ),
    ),
  );

interface Explored {
  readonly plot: string;
  readonly server: string;
  readonly how: string;
  readonly faults: number;
  readonly schedules: number;
  readonly exhausted: boolean;
  readonly broken: boolean;
}

/** Every order is every time the same; what is drawn is drawn from other seeds. */
const explorations = (results: readonly Result[]): readonly Explored[] =>
  grouped(linesOf(results), ({ plot, server, how, faults }) => [plot, server, how, faults].join()).map((rounds) => {
    const { plot, server, how, faults } = rounds[0];
    const of = (line: Line): number => line.schedules;
    return {
      ...{ plot, server, how, faults, schedules: how === 'drawn' ? sum(rounds, of) : most(rounds, of) },
      exhausted: rounds.some((line) => line.exhausted),
      broken: rounds.some((line) => line.failure || line.message || line.found),
    };
  });

const explored = (results: readonly Result[]): string =>
  [
    table(
      ['plot', 'on', 'schedules', 'complete', 'broken'],
      [...Map.groupBy(explorations(results), ({ plot, server }) => `${plot} ${server}`).values()].map((ways) => {
        const complete = ways.filter(({ exhausted }) => exhausted).map(({ how }) => how);
        const schedules = ways.reduce((total, each) => total + each.schedules, 0);
        const broken = ways.some((each) => each.broken) ? 'yes' : 'no';
        return row(ways[0]!.plot, ways[0]!.server, number(schedules), complete.join(', ') || '-', broken);
      }),
    ),
    '*Complete*: of these ways to choose an order every one was run; of the others as many as the time allowed. [Each way, with its faults](evidence/orders.md).',
  ].join('\n\n');

/** docs/evidence/orders.md. Pure. */
export const orders = (results: Results): string =>
  `${[
    '# Orders of messages, each way',
    'The rows behind the table of [evidence](../evidence.md#orders-of-messages), written by `npm run prove` from its results. [What it does](../decisions/tools.md).',
    table(
      ['plot', 'on', 'how', 'faults up to', 'schedules', 'all there are', 'broken'],
      explorations(results.flatMap(([part, rounds]) => (part.startsWith('exploration') ? rounds : []))).map((each) =>
        row(
          ...[each.plot, each.server, each.how, each.faults, number(each.schedules)],
          ...[each.exhausted ? 'yes' : 'no', each.broken ? 'yes' : 'no'],
        ),
      ),
    ),
  ].join('\n\n')}\n`;

const ended = ({ printed }: Result): readonly [passed: string, failed: string] => {
  const [, passed = '?', failed = '?'] = /(\d+) passed, (\d+) failed/.exec(printed) ?? [];
  return [passed, failed];
};

const suites = (results: readonly Result[]): string =>
  [
    table(
      ['run', 'commit', 'minutes', 'passed', 'failed'],
      results.map((result, i) => row(i + 1, result.commit, (result.seconds / 60).toFixed(1), ...ended(result))),
    ),
    'No test is tried a second time.',
  ].join('\n\n');

const bugs = (results: readonly Result[]): string => {
  const [passed, failed] = ended(results.at(-1)!);
  return `${passed} tests passed and ${failed} failed, of [the table](known-bugs.md), of all planted defects of the core, the quorum and the conformance suite, and of the models with their twins.`;
};

const mutants = (results: readonly Result[]): string =>
  [
    table(
      ['folder', 'mutants', 'killed', 'survived', 'not run yet', 'killed of those that were run'],
      // The tool keeps its results by itself: its last word counts.
      linesOf(results.slice(-1)).map((each) => {
        const { of, mutants, killed, survived, unrun } = each;
        return row(`\`${of}\``, ...[mutants, killed, survived, unrun].map(number), rate(each));
      }),
    ),
    'Survived: no test of those that were run fails, or none comes by. Many of these change nothing that a test could see, such as an order of equals.',
  ].join('\n\n');

const SECTIONS: readonly [title: string, begins: string, how: string, write: (results: readonly Result[]) => string][] =
  [
    ['The whole suite', 'suite', '`npm test`, one run after the other', suites],
    [
      'Torture',
      'torture',
      '`npm run prove -- torture --busy 8 --broken none`, [what it does](guides/torture.md)',
      tortured,
    ],
    ['Faults of the server', 'owner', '`npm run prove -- torture:owner`', owned],
    ['Random histories', 'simulation', '`node test/prove/simulate.ts`', simulated],
    [
      'Orders of messages',
      'exploration',
      '`node test/exploration/long.ts`, [what it does](decisions/tools.md)',
      explored,
    ],
    ['Known bugs', 'known bugs', '`npm test -- test/known-bugs test/testing/mutants.test.ts …`', bugs],
    ['Mutants', 'mutants', '`npm run prove -- mutants`, [what it does](decisions/tools.md)', mutants],
    [
      'Other libraries',
      'rival',
      '`npm run prove -- rivals`; a lease of 2 s for each (of `proper-lockfile` it is 10 s by default), and else the settings of their documents',
      rivals,
    ],
  ];

/** What the page takes from a line of a program. */
const FIELDS = new Set(
  [
    'engine ran totals faults broken staleRefused staleWrites outcome', // torture
    'topology porcupine notRun', // hosts
    'name promise counts on', // the owner of a server, and rivals
    'nodes histories from', // the simulation
    'plot server how schedules exhausted failure message found', // the exploration
    'of mutants killed survived unrun', // mutants
  ].flatMap((names) => names.split(' ')),
);

/** Of a result what the page is written from. Pure. */
export const essence = (result: Result): Result => ({
  ...result,
  lines: result.lines.map((line: Line) =>
    Object.fromEntries(Object.entries(line).filter(([name]) => FIELDS.has(name))),
  ),
  printed: /\d+ passed, \d+ failed/.exec(result.printed)?.[0] ?? '',
});

/** docs/evidence.md. Pure. */
export function evidence(results: Results): string {
  const done = results.flatMap(([, rounds]) => rounds);
  const missing = results.filter(([, rounds]) => rounds.length === 0).map(([part]) => part);
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
    '- MongoDB: 4.4.6 was run by hand, on another commit; there is no server here.',
    '- MySQL itself: MariaDB was run.',
    '- A network between machines: all processes and servers were on one.',
  ];
  return `${[
    '# Evidence',
    'The tests that ran, and their results: written by `npm run prove`.',
    `From ${dates.at(0)} to ${dates.at(-1)} UTC, of ${commits.length > 1 ? 'commits' : 'commit'} ${commits.join(', ')}, on ${availableParallelism()} cores and ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}: ${minutes} minutes of parts. No failure in this time is evidence, not proof: \`npm run prove -- --for 8h\` adds a round of other seeds. [What is promised](promises.md).`,
    failed.length > 0
      ? `**Not as it should be, in this run:** ${failed.join(', ')}.`
      : 'Every part ended as it should.',
    ...sections,
    '## What was not run',
    unlisted.join('\n'),
  ].join('\n\n')}\n`;
}
