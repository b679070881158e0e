/** What a lock costs here, against a floor and against others: `npm run bench -- --help`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { orUsage } from '../test/kit/flags.ts';
import { arenas } from './arenas.ts';
import { flagsOf, USAGE } from './flags.ts';
import { leftAsTheyWere, readFigures, withResults } from './pages/figures.ts';
import { writeAll } from './pages/publish.ts';
import { bars, figures, json, type Result, targetsTable } from './report.ts';
import type { Arena, Row, Sample } from './row.ts';
import { rows } from './rows/index.ts';

const flags = orUsage(USAGE, () => flagsOf(process.argv.slice(2), Object.keys(arenas)));
const chosen = rows.filter(({ group, title }) => flags.only.has(group) && title.includes(flags.row));
const listOf = (some: readonly Row[]): string =>
  some.map(({ group, title }) => `  ${group.padEnd(14)}${title}`).join('\n');
if (flags.help || flags.list) {
  console.log(flags.help ? USAGE : listOf(chosen));
  process.exit();
}
if (chosen.length === 0) {
  console.error(`no row of ${[...flags.only].join(', ')} has '${flags.row}' in its title; there are\n${listOf(rows)}`);
  process.exit(2);
}
const patience = flags.quick ? 0.4 : 1;

/** Entries take turns, so that what disturbs the machine disturbs all of them. */
async function measure(row: Row, arena: Arena): Promise<Result> {
  const rounds: Record<string, Sample>[] = [];
  const count = Math.min(flags.quick ? 2 : flags.rounds, row.rounds ?? Number.POSITIVE_INFINITY);
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
  const wanted = chosen.filter((row) => row.group === group);
  if (wanted.length === 0) continue;
  await using arena = await start();
  for (const row of wanted) results.push(await measure(row, arena));
}
console.log(`\n${targetsTable(results)}`);

const folder = new URL('results/', import.meta.url);
mkdirSync(folder, { recursive: true });
const machine = { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length };
const name = `${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}.json`;
writeFileSync(new URL(name, folder), `${JSON.stringify({ machine, rows: json(results) }, undefined, 2)}\n`);
console.log(`bench/results/${name}`);
if (flags.publish) {
  writeAll(withResults(readFigures(), results, new Date().toISOString().slice(0, 10)));
  for (const name of leftAsTheyWere(results)) console.error(`but not those of ${name}: too little happened`);
}
