/**
 * `npm run rivals [-- name…] [--for 60] [--seed 1] [--json]`: other libraries under the processes, connections, faults and referee of
 * `holdfast torture`, and what they break. Each has a lease of 2 s, and else the settings that its documents recommend.
 */
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { everyone, tortureRival } from './run.ts';

const { values, positionals } = parseArgs({
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
