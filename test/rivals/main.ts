/** Other libraries under the same faults and the same referee: `npm run prove -- rivals --help`. */
import Table from 'cli-table3';
import { flagsOf } from '../kit/flags.ts';
import { everyone, tortureRival } from './run.ts';

const USAGE = `npm run prove -- rivals [name…] [flags]: other libraries under the faults and the referee of holdfast torture, and what they break
  --for 60   seconds of each
  --seed 1   the same faults again
  --json     a line of JSON for each
  --help     this
Each has a lease of 2 s, and else the settings that its documents recommend.`;

const { values, positionals } = flagsOf(USAGE, {
  options: {
    for: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

const table = new Table({
  head: ['library', 'on', 'holds', 'faults', 'two inside', 'late writes', 'taken', 'other', 'longest wait'],
  style: { head: [], border: [] },
});
for (const [name, on] of everyone()) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const plan = { name, on, duration: Number(values.for) * 1_000, seed: Number(values.seed) };
  const { totals, faults, broken, staleWrites, staleRefused, violations, ran } = await tortureRival(plan);
  const effective = Object.values(faults).reduce((sum, each) => sum + each.effective, 0);
  const { exclusion = 0, register: _, ...rest } = broken;
  if (values.json) {
    const examples = Object.keys(broken).map((kind) => violations.find((each) => each.broken === kind)?.message);
    console.log(JSON.stringify({ name, on, ran, totals, faults, broken, staleWrites, staleRefused, examples }));
    continue;
  }
  const other = Object.entries(rest).map(([kind, times]) => `${kind} ${times}`);
  const wait = `${(totals.longestWait / 1_000).toFixed(1)} s`;
  const taken = staleWrites - staleRefused;
  table.push([name, on, totals.holds, effective, exclusion, staleWrites, taken, other.join(', ') || '-', wait]);
}
if (!values.json) console.log(`${table}`);
