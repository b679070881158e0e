/**
 * What a lock costs here, against a floor and against others, on servers of our own: `npm run bench`.
 *   --only redis,file   these groups
 *   --row 'one caller'  rows whose title has this in it
 *   --rounds 5          how often each is measured; medians count
 *   --quick             two short rounds: a look, not a measurement
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { arenas } from './arenas.ts';
import { bars, figures, json, type Result, targetsTable } from './report.ts';
import type { Arena, Row, Sample } from './row.ts';
import { rows } from './rows/index.ts';

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(arenas).join() },
    row: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    quick: { type: 'boolean', default: false },
  },
});
const groups = new Set(flags.only.split(','));
const patience = flags.quick ? 0.4 : 1;

/** Entries take turns, so that what disturbs the machine disturbs all of them. */
async function measure(row: Row, arena: Arena): Promise<Result> {
  const rounds: Record<string, Sample>[] = [];
  const count = Math.min(flags.quick ? 2 : Number(flags.rounds), row.rounds ?? Number.POSITIVE_INFINITY);
  console.log(`\n${row.group}: ${row.title}`);
  for (let round = 0; round < count; round++) {
    const samples: Record<string, Sample> = {};
    for (const entry of row.entries) {
      process.stderr.write(`\r  round ${round + 1} of ${count}: ${entry.name.padEnd(30)}`);
      samples[entry.name] = await entry.measure(arena, patience);
    }
    rounds.push(samples);
  }
  process.stderr.write(`\r${' '.repeat(60)}\r`);
  const result = { row, rounds };
  console.log(figures(result));
  if (row.drawn) console.log(`\n  ${row.drawn}\n${bars(result, row.drawn)}`);
  return result;
}

const results: Result[] = [];
for (const [group, start] of Object.entries(arenas)) {
  const chosen = rows.filter((row) => groups.has(group) && row.group === group && row.title.includes(flags.row));
  if (chosen.length === 0) continue;
  await using arena = await start();
  for (const row of chosen) results.push(await measure(row, arena));
}
console.log(`\n${targetsTable(results)}`);

const folder = new URL('results/', import.meta.url);
mkdirSync(folder, { recursive: true });
const machine = { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length };
const name = `${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}.json`;
writeFileSync(new URL(name, folder), `${JSON.stringify({ machine, rows: json(results) }, undefined, 2)}\n`);
console.log(`bench/results/${name}`);
