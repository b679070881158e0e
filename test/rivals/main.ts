/** Other libraries under the same faults and the same referee: `npm run prove -- torture:peers --help`. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Verdict } from '../../products/torture/verdict.ts';
import { flagsOf } from '../kit/flags.ts';
import { everyone, tortureRival, versionOf } from './run.ts';

const USAGE = `npm run prove -- torture:peers [name…] [flags]: other libraries under the faults and the referee of holdfast torture, and what they break
  --for 60   seconds of each
  --seed 1   the same faults again
  --page     writes docs/evidence/peers-under-faults.md; of a library that is not run the row stays
  --json     a line of JSON for each
  --help     this
Each has a lease of 2 s, and else the settings that its documents recommend.`;

const { values, positionals } = flagsOf(USAGE, {
  options: {
    for: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    page: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

const row = (...cells: readonly unknown[]): string => `| ${cells.join(' | ')} |`;
const COLUMNS = ['library', 'version', 'on', 'for', 'locks taken', 'faults that hit', 'two held it at once'];
const HEAD = [...COLUMNS, 'late writes', 'late writes accepted', 'other', 'longest wait'];

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

function rowOf(name: string, version: string, on: string, verdict: Verdict): string {
  const { totals, faults, broken, staleWrites, staleRefused, ran } = verdict;
  const hits = Object.values(faults).reduce((sum, { effective }) => sum + effective, 0);
  const { exclusion = 0, register: _, ...rest } = broken;
  const other = Object.entries(rest).map(([kind, times]) => `${kind} ${times}`);
  const late = [staleWrites, staleWrites - staleRefused];
  return row(
    ...[name, version, on, seconds(ran), totals.holds, hits, exclusion, ...late],
    ...[other.join(', ') || '-', seconds(totals.longestWait)],
  );
}

const head = [row(...HEAD), row(...HEAD.map(() => '---'))];
const lines = new Map<string, string>();
if (!values.json) console.log(head.join('\n'));
for (const [name, on] of everyone()) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const plan = { name, on, duration: Number(values.for) * 1_000, seed: Number(values.seed) };
  const [version, verdict] = [await versionOf(name), await tortureRival(plan)];
  lines.set(`${name} on ${on}`, rowOf(name, version, on, verdict));
  if (values.json) {
    const { totals, faults, broken, staleWrites, staleRefused, violations, ran } = verdict;
    const examples = Object.keys(broken).map((kind) => violations.find((each) => each.broken === kind)?.message);
    console.log(
      JSON.stringify({ name, version, on, ran, totals, faults, broken, staleWrites, staleRefused, examples }),
    );
  } else console.log(lines.get(`${name} on ${on}`));
}

if (values.page) {
  const root = join(import.meta.dirname, '../..');
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const file = join(root, 'docs/evidence/peers-under-faults.md');
  // Who was not run now keeps the row of the last time.
  const before = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const rows = everyone().flatMap(([name, on]) => {
    const old = before.find((line) => line.startsWith(`| ${name} |`) && line.split(' | ')[2] === on);
    return lines.get(`${name} on ${on}`) ?? old ?? [];
  });
  const where = `commit ${commit}, ${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} cores, Node ${process.version}, seed ${values.seed}`;
  const page = [
    '# Other libraries under the same faults',
    `Written by \`npm run prove -- torture:peers --page\`: ${where}.`,
    'Each library has the processes, the pauses, kills, busy loops and cut connections, and the judge of [torture](../guides/torture.md), a lease of 2 s (that of `proper-lockfile` is 10 s by default), and else the settings that its documents recommend. A fault may hit differently in each run, so small numbers compare nothing; what counts is 0 or not.',
    [...head, ...rows].join('\n'),
    '*Late writes*: a holder was stopped beyond its lease, and wrote after the next hold had begun. Without a token that grows nothing can refuse such a write: that is what a [fencing token](../which-lock.md) is for. *Two held it at once*: both believed it, inside of what their library told them.',
    'Redisson runs in processes of Java, with its watchdog: `redisson` takes an `RLock`, `redisson-fenced` an `RFencedLock`, which has a token. Java has no loop to block, so the whole process stands still instead, as in a long collection of garbage. Programs in other languages share [one lock with plain Redis](../backends/redis-plain.md) in other tests.',
  ];
  writeFileSync(file, `${page.join('\n\n')}\n`);
}
