import { availableParallelism, totalmem } from 'node:os';
import { rate } from '../mutation/table.ts';
import type { Result } from './result.ts';
import { added, addedCounts, addedRows, cellsOf, longer, numberIn, row, sourcesIn, spanned, words } from './sums.ts';

type Results = readonly (readonly [part: string, rounds: readonly Result[]])[];
interface Count {
  readonly done: number;
  readonly effective: number;
}

const table = (head: readonly string[], rows: readonly string[]): string =>
  [row(...head), row(...head.map(() => '---')), ...rows].join('\n');
const OF = 'when, on which sources';
const now = (_: string, cell: string): string => cell;
/** How to add the cells of a column to those of the rounds before, where it is not by `added`. */
const BY = {
  ...{ proof: now, where: now, engine: now, server: now, servers: now, topology: now, 'looked at': now },
  ...{ 'longest wait': longer, 'seeds from': (before: string, cell: string) => `${before}; ${cell}`, [OF]: spanned },
};
const sourcesOf = (line: string): string => sourcesIn(cellsOf(line).at(-1)!);
/** A row of this round, and what an earlier one says, if both ran on the same sources. */
const plus = (head: readonly string[], earlier: string | undefined, line: string): string =>
  earlier && sourcesOf(earlier) === sourcesOf(line) ? addedRows(head, earlier, line, BY) : line;
/** The rows of this round, each with what the file has of it, and the rows of the file that were not run again. */
function kept(head: readonly string[], rows: readonly string[], before: string, join = plus): string {
  const first = (line: string): string => line.split(' | ')[0]!;
  const heads = [row(...head), row(...head.map(() => '---'))].map(first);
  const old = new Map(
    before
      .split('\n')
      .filter((line) => line.startsWith('| ') && !heads.includes(first(line)))
      .map((line) => [first(line), line]),
  );
  const ran = new Set(rows.map(first));
  const others = [...old].flatMap(([name, line]) => (ran.has(name) ? [] : [line]));
  return table(head, [...rows.map((line) => join(head, old.get(first(line)), line)), ...others]);
}
const number = (count: number): string => count.toLocaleString('en-US');
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const effective = (faults: Record<string, Count>): number =>
  Object.values(faults).reduce((sum, each) => sum + each.effective, 0);

// biome-ignore lint/suspicious/noExplicitAny: each program has lines of its own.
type Line = any;

/** With what came with them: when, and on which sources. */
const dated = (results: readonly Result[]): readonly Line[] =>
  results.flatMap(({ lines, date, sources }) => lines.map((line) => ({ ...line, date, sources })));
const linesOf = (results: readonly Result[]): readonly Line[] => results.flatMap(({ lines }) => lines);
/** Of all rounds, by what they are about. */
const grouped = (lines: readonly Line[], by: (line: Line) => string): readonly (readonly Line[])[] => [
  ...Map.groupBy(lines, by).values(),
];
const sum = (lines: readonly Line[], of: (line: Line) => number | undefined): number =>
  lines.reduce((total: number, line) => total + (of(line) ?? 0), 0);
const most = (lines: readonly Line[], of: (line: Line) => number): number => Math.max(...lines.map(of));
/** When results came, and on which sources. */
function originOf(results: readonly Pick<Result, 'date' | 'sources'>[]): string {
  const dates = results.map(({ date }) => date.slice(0, 10)).toSorted();
  const days = [...new Set([dates[0], dates.at(-1)])].join(' to ');
  return `${days}, ${[...new Set(results.map(({ sources }) => sources))].join(', ')}`;
}

const outcomes = (lines: readonly Line[]): string => words(addedCounts(lines.map(({ outcome }) => ({ [outcome]: 1 }))));

/** The faults that hit something, by kind. */
const hits = (lines: readonly Line[]): Record<string, number> =>
  addedCounts(
    lines.map(({ faults }) =>
      Object.fromEntries(
        Object.entries(faults as Record<string, Count>).flatMap(([kind, of]) =>
          of.effective > 0 ? [[kind, of.effective]] : [],
        ),
      ),
    ),
  );

function tortured(results: readonly Result[], before: string): string {
  const lines = dated(results).filter(({ totals }) => totals);
  const rows = grouped(lines, ({ engine }) => engine).map((rounds) => {
    const broken = (kind: string): number => sum(rounds, (line) => line.broken[kind]);
    return row(
      ...[rounds[0].engine, seconds(sum(rounds, ({ ran }) => ran)), number(sum(rounds, ({ totals }) => totals.holds))],
      ...[number(sum(rounds, ({ faults }) => effective(faults))), broken('exclusion'), broken('tokens')],
      ...[broken('wake-ups'), `${sum(rounds, (l) => l.staleRefused)} of ${sum(rounds, (l) => l.staleWrites)}`],
      ...[seconds(most(rounds, ({ totals }) => totals.longestWait)), outcomes(rounds), originOf(rounds)],
    );
  });
  const head = ['engine', 'for', 'locks taken', 'faults that hit', 'two inside', 'tokens wrong', 'wake-ups lost'];
  const nothing = lines.some(({ outcome }) => outcome === 'nothing')
    ? ['The verdict *nothing* means that too little happened to say anything.']
    : [];
  const sources = results.at(-1)!.sources;
  const [, earlier = '-'] = new RegExp(`^Faults that hit, on ${sources}: (.*)\\.$`, 'm').exec(before) ?? [];
  return [
    kept([...head, 'late writes refused', 'longest wait', 'verdicts', OF], rows, before),
    ...[`Faults that hit, on ${sources}: ${added(earlier, words(hits(lines)))}.`, ...nothing],
  ].join('\n\n');
}

const owned = (results: readonly Result[], before: string): string =>
  kept(
    [
      'server',
      'looked at',
      'for',
      'locks taken',
      'done to the server',
      'other faults that hit',
      'broken',
      'verdicts',
      OF,
    ],
    grouped(dated(results), ({ name }) => name).map((rounds) =>
      row(
        ...[rounds[0].name, rounds[0].promise, seconds(sum(rounds, ({ ran }) => ran))],
        ...[number(sum(rounds, ({ totals }) => totals.holds)), words(addedCounts(rounds.map(({ counts }) => counts)))],
        sum(rounds, ({ faults }) => effective(faults)),
        ...[words(addedCounts(rounds.map(({ broken }) => broken))), outcomes(rounds), originOf(rounds)],
      ),
    ),
    before,
  );

const hosted = (results: readonly Result[], before: string): string =>
  kept(
    ['topology', 'for', 'locks taken', 'done to it, and it hit', 'broken', 'Porcupine', 'verdicts', OF],
    grouped(
      dated(results).filter(({ totals }) => totals),
      ({ topology }) => topology,
    ).map((rounds) =>
      row(
        ...[rounds[0].topology, seconds(sum(rounds, ({ ran }) => ran)), number(sum(rounds, (l) => l.totals.holds))],
        ...[words(hits(rounds)), words(addedCounts(rounds.map(({ broken }) => broken)))],
        ...[[...new Set(rounds.map(({ porcupine }) => porcupine))].join(', '), outcomes(rounds), originOf(rounds)],
      ),
    ),
    before,
  );

const askedOn = ({ engine, real }: Line): string => (real ? `${engine}, processes of the machine` : engine);
const memos = (results: readonly Result[], before: string): string =>
  kept(
    ['engine', 'for', 'keys', 'done to one of three processes', 'keys with a broken promise', 'seeds from', OF],
    grouped(dated(results), askedOn).map((rounds) =>
      row(
        ...[askedOn(rounds[0]), seconds(sum(rounds, ({ ran }) => ran)), number(sum(rounds, (line) => line.memos))],
        ...[words(addedCounts(rounds.map(({ struck }) => struck))), sum(rounds, ({ wrong }) => wrong)],
        ...[rounds.map(({ from }) => number(from)).join('; '), originOf(rounds)],
      ),
    ),
    before,
  );

const simulated = (results: readonly Result[], before: string): string =>
  kept(
    ['servers', 'random histories', 'seeds from', 'broken', OF],
    grouped(dated(results), ({ nodes }) => nodes).map((rounds) =>
      row(
        ...[rounds[0].nodes, number(sum(rounds, ({ histories }) => histories))],
        ...[rounds.map(({ from }) => number(from)).join('; '), sum(rounds, ({ broken }) => broken.length)],
        originOf(rounds),
      ),
    ),
    before,
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
    '*Complete*: of these ways to choose an order every one was run; of the others as many as the time allowed.',
    '## Each way',
    table(
      ['plot', 'on', 'how', 'faults up to', 'schedules', 'all there are', 'broken'],
      explorations(results).map((each) =>
        row(
          ...[each.plot, each.server, each.how, each.faults, number(each.schedules)],
          ...[each.exhausted ? 'yes' : 'no', each.broken ? 'yes' : 'no'],
        ),
      ),
    ),
  ].join('\n\n');

const ended = ({ printed }: Result): readonly [passed: string, failed: string] => {
  const [, passed = '?', failed = '?'] = /(\d+) passed, (\d+) failed/.exec(printed) ?? [];
  return [passed, failed];
};

const suites = (results: readonly Result[], before: string): string => {
  const earlier = before.split('\n').filter((line) => cellsOf(line)[1] === results.at(-1)!.sources);
  const rows = results.map((result, at) =>
    row(earlier.length + at + 1, result.sources, (result.seconds / 60).toFixed(1), ...ended(result)),
  );
  return [
    table(['run', 'sources', 'minutes', 'passed', 'failed'], [...earlier, ...rows]),
    'No test is tried a second time, except a law of the conformance suite that failed while the clock of the machine was set: its output says so.',
  ].join('\n\n');
};

const bugs = (results: readonly Result[]): string => {
  const [passed, failed] = ended(results.at(-1)!);
  return `${passed} tests passed and ${failed} failed, of [the table](../known-bugs.md), of all planted defects of the core, the quorum and the conformance suite, and of the models with their twins.`;
};

const MUTANTS = ['folder', 'mutants', 'killed', 'survived', 'equivalent', 'not run yet', 'killed of the others', OF];
const unrunIn = (line: string): number => numberIn(cellsOf(line)[MUTANTS.indexOf('not run yet')]!);
/** Verdicts are kept in one checkout only, so a row of another checkout stays if it has more of them. */
const moreJudged = (_: readonly string[], earlier: string | undefined, line: string): string =>
  earlier && sourcesOf(earlier) === sourcesOf(line) && unrunIn(earlier) < unrunIn(line) ? earlier : line;

const mutants = (results: readonly Result[], before: string): string => {
  // The tool keeps its results by itself: its last word counts.
  const rows = dated(results.slice(-1))
    .filter(({ mutants, unrun }) => unrun < mutants)
    .map((each) => {
      const { of, mutants, killed, survived, equivalent = 0, unrun } = each;
      const counts = [mutants, killed, survived, equivalent, unrun].map(number);
      return row(`\`${of}\``, ...counts, rate(each), originOf([each]));
    });
  return [
    kept(MUTANTS, rows, before, moreJudged),
    '*Survived*: no test fails. *Equivalent*: the mutant changes nothing that a test could see, such as an order of equals; [why](../../test/mutation/equivalent.jsonl), for each.',
  ].join('\n\n');
};

/** A proof: a row of docs/evidence.md, and a file of its own with all that came of it. */
interface Proof {
  readonly title: string;
  /** Its file in docs/evidence. */
  readonly file: string;
  /** The parts that are about it begin so. */
  readonly begins: string;
  readonly how: string;
  readonly where: string;
  /** How much ran, and what broke. `written`: the file of this proof, as it is now */
  readonly sums: (results: readonly Result[], written: string) => readonly [much: string, broke: string];
  /** Whether the sums are of the last round alone: it runs the same again, or knows of the rounds before. */
  readonly last?: boolean;
  /** Writes the file anew, with `before` as it was; undefined if the proof writes it by itself. */
  readonly write?: (results: readonly Result[], before: string) => string;
}

const locks = (results: readonly Result[]): string => {
  const lines = linesOf(results).filter(({ totals }) => totals);
  const faults = number(sum(lines, (line) => effective(line.faults)));
  return `${number(sum(lines, ({ totals }) => totals.holds))} locks taken, ${faults} faults that hit`;
};
/** Promises that were broken, and where. */
const brokenIn = (lines: readonly Line[], name: (line: Line) => string): string =>
  lines
    .filter(({ broken }) => broken && Object.keys(broken).length > 0)
    .map((line) => `${name(line)}: ${words(line.broken)}`)
    .join('; ') || 'nothing';
const schedules = (results: readonly Result[]): number =>
  explorations(results).reduce((total, each) => total + each.schedules, 0);

const PROOFS: readonly Proof[] = [
  {
    ...{ title: 'The whole suite', file: 'suite', begins: 'suite', how: '`npm test`, one run after the other' },
    ...{ where: 'all engines', write: suites },
    sums(results) {
      const [passed, failed] = [0, 1].map((i) => results.map((result) => Number(ended(result)[i])));
      const all = failed!.reduce((one, other) => one + other, 0);
      const tests = passed!.reduce((one, other) => one + other, 0);
      return [`${results.length} runs, ${number(tests)} tests passed`, `${all} failed`];
    },
  },
  {
    ...{ title: 'Torture', file: 'torture', begins: 'torture', write: tortured },
    how: '`npm run prove -- torture --processes 16 --busy 16 --broken none`, with MySQL and stores `--processes 8 --busy 4`, [what it does](../guides/torture.md)',
    where: 'every way to reach an engine; processes, and connections through a proxy',
    sums: (results) => [locks(results), brokenIn(linesOf(results), ({ engine }) => engine)],
  },
  {
    ...{ title: 'Hosts of their own', file: 'hosts', begins: 'hosts', write: hosted },
    how: '`npm run prove -- torture:hosts`, [what it does](../guides/torture.md#on-hosts-of-their-own)',
    where: 'clusters, standbys and replicas; each server and process in a network namespace',
    sums: (results) => [locks(results), brokenIn(linesOf(results), ({ topology }) => topology)],
  },
  {
    ...{ title: 'Faults of the server', file: 'owner', begins: 'owner', how: '`npm run prove -- torture:owner`' },
    ...{ where: 'each server killed, stopped, its clock set', write: owned },
    sums(results) {
      const { allowed = [], others = [] } = Object.groupBy(linesOf(results), ({ outcome }) =>
        outcome.endsWith('may') ? 'allowed' : 'others',
      );
      const broken = brokenIn(others, ({ name }) => name);
      const isAllowed = broken === 'nothing' && allowed.length > 0;
      return [locks(results), isAllowed ? 'only what the promises say may' : broken];
    },
  },
  {
    ...{ title: 'Memos', file: 'memos', begins: 'memos', write: memos },
    how: '`npm run prove -- torture:memo`, [what it does](../guides/torture.md#memos-under-faults)',
    where: 'six engines; one of three processes killed, stopped or cut off',
    sums(results) {
      const lines = linesOf(results);
      const faults = sum(lines, ({ struck }) => Object.values<number>(struck).reduce((one, other) => one + other, 0));
      return [
        `${number(sum(lines, (line) => line.memos))} keys, ${number(faults)} faults that hit`,
        `${sum(lines, ({ wrong }) => wrong)} keys`,
      ];
    },
  },
  {
    ...{ title: 'Random histories', file: 'histories', begins: 'simulation', how: '`node test/prove/simulate.ts`' },
    ...{ where: 'the core on a simulated network', write: simulated },
    sums: (results) => [
      `${number(sum(linesOf(results), ({ histories }) => histories))} histories`,
      `${sum(linesOf(results), ({ broken }) => broken.length)} histories`,
    ],
  },
  {
    ...{ title: 'Orders of messages', last: true, file: 'orders', begins: 'exploration', write: explored },
    how: '`node test/exploration/long.ts`, [what it does](../decisions/tools.md)',
    where: 'memory and file, each order of messages',
    sums: (results) => [
      `${number(schedules(results))} schedules`,
      explorations(results).some(({ broken }) => broken) ? 'see there' : 'nothing',
    ],
  },
  {
    ...{ title: 'Known bugs, planted bugs, models', last: true, file: 'bugs', begins: 'known bugs', write: bugs },
    how: '`npm test -- test/known-bugs test/testing/mutants.test.ts …`',
    where: 'all engines, and Spin',
    sums(results) {
      const [passed, failed] = ended(results.at(-1)!);
      return [`${passed} tests`, `${failed} failed`];
    },
  },
  {
    ...{ title: 'Mutants', last: true, file: 'mutants', begins: 'mutants', write: mutants },
    how: '`npm run prove -- mutants`, [what it does](../decisions/tools.md)',
    where: 'core, quorum, memos, and what runs in servers: Lua and SQL',
    sums(_, written) {
      const rows = written.split('\n').filter((line) => line.startsWith('| `'));
      const of = (column: string): string =>
        number(rows.reduce((all, line) => all + numberIn(cellsOf(line)[MUTANTS.indexOf(column)]!), 0));
      return [
        `${of('mutants')} mutants, ${of('killed')} killed, ${of('equivalent')} equivalent`,
        `${of('survived')} survived, ${of('not run yet')} not run`,
      ];
    },
  },
  {
    ...{ title: 'Other libraries', last: true, file: 'peers-under-faults', begins: 'peers' },
    how: '`npm run prove -- torture:peers`',
    where: 'the same faults and judge',
    sums: (results) => [locks(results), 'each of theirs took a late write'],
  },
];

/** What the page takes from a line of a program. */
const FIELDS = new Set(
  [
    'engine ran totals faults broken staleRefused staleWrites outcome', // torture
    'topology porcupine notRun', // hosts
    'name promise counts on', // the owner of a server, and peers
    'real memos struck wrong', // memos
    'nodes histories from', // the simulation
    'plot server how schedules exhausted failure message found', // the exploration
    'of mutants killed survived equivalent unrun', // mutants
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

const SOURCES =
  'a name for the code that ran, without comments and types of TypeScript. The suite, known bugs and mutants run all of `src` and `products`; the others run the lock alone (`scripts/code-name.mjs`).';
const HEAD = ['proof', 'where', 'how much', 'what broke', OF];
/** The row of a proof as an older page has it. */
const rowIn = (page: string, title: string): string | undefined =>
  page.split('\n').find((line) => line.startsWith(`| [${title}]`));

/**
 * The pages, by their paths in docs: one screen of rows, and a file for each proof that has results. Pure.
 * @param results all of this checkout: what the page has is not added again
 * @param before gives each page as it is: the row of what was not run again stays, and what ran on the same sources is added to it
 */
export function evidence(results: Results, before: (path: string) => string = () => ''): ReadonlyMap<string, string> {
  const done = results.flatMap(([, rounds]) => rounds);
  const missing = results.filter(([, rounds]) => rounds.length === 0).map(([part]) => part);
  const failed = done
    .filter(({ code, part, interrupted, onPage }) => code !== 0 && !interrupted && !onPage && part !== 'peers')
    .map(({ part }) => part);
  const machine = `${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}`;
  const files = new Map<string, string>();
  const rows = PROOFS.map(({ title, file, begins, how, where, last, sums, write }) => {
    const own = done.filter(({ part, onPage }) => part.startsWith(begins) && (last || !onPage));
    if (own.length === 0)
      return rowIn(before('evidence.md'), title) ?? row(`[${title}](evidence/${file}.md)`, where, 'not run', '-', '-');
    const from = `By ${how}: ${originOf(own)}, ${machine}.`;
    const path = `evidence/${file}.md`;
    const written = write?.(own, before(path)) ?? '';
    if (write) files.set(path, `${[`# ${title}`, from, written].join('\n\n')}\n`);
    const minutes = Math.round(own.reduce((all, each) => all + each.seconds, 0) / 60);
    const [much, broke] = sums(own, written);
    const line = row(`[${title}](evidence/${file}.md)`, where, `${much}; ${minutes} minutes`, broke, originOf(own));
    const earlier = rowIn(before('evidence.md'), title);
    return last ? line : plus(HEAD, earlier, line);
  });
  const page = [
    '# Evidence',
    'What ran, where, how much, and what broke, a row for each proof: written by `npm run prove`.',
    `No failure in this time is evidence, not proof: \`npm run prove -- --for 8h\` adds a round of other seeds. [What is promised](promises.md), and [the tests and runs that show it](evidence/promises.md).`,
    table(HEAD, rows),
    `Sources: ${SOURCES} A release is refused while a row is of others.`,
    'Besides: [known bugs, found again](known-bugs.md), [versions](compatibility.md).',
    ...(failed.length > 0 ? [`**Not as it should be, in this run:** ${failed.join(', ')}.`] : []),
    ...(missing.length > 0 && before('evidence.md') === '' ? [`Not run: ${missing.join(', ')}.`] : []),
    'Not run by any of these: MongoDB ([by hand on 4.4.6](backends/mongodb.md#what-has-been-run-and-what-not)), networks between machines, Windows.',
  ];
  return new Map([['evidence.md', `${page.join('\n\n')}\n`], ...files]);
}
