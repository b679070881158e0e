// How quickly a sweep takes away the idle rows of MySQL/MariaDB, and what others notice of it:
// node bench/mysql-sweep.ts [idle rows, 1,000,000] [rows in use, 100,000]
import { createPool } from 'mysql2/promise';
import { mysql } from '../src/backends/mysql/index.ts';
import { systemClock } from '../src/core/contract/clock.ts';
import { createLocks } from '../src/index.ts';
import { startMariadb } from '../test/kit/mariadb.ts';

const [idle = 1_000_000, used = 100_000] = process.argv.slice(2).map(Number);
await using server = await startMariadb({
  'innodb-flush-log-at-trx-commit': '1',
  'innodb-buffer-pool-size': '256M',
  'innodb-log-file-size': '96M',
});
const pool = createPool(server.url);
const backend = mysql(pool, { sweep: 0, idle: 3_600_000 });
await backend.setup();
const now = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
await pool.query('SET GLOBAL innodb_flush_log_at_trx_commit = 2'); // while it is filled, in the order of the names
const fill = (name: string, used: string, rows: number): Promise<unknown> =>
  pool.query(
    `INSERT INTO holdfast_lines SELECT CONCAT('holdfast/', LPAD(${name}, 9, '0')), seq, ${used}, '', '', 0 FROM seq_1_to_${rows}`,
  );
await fill('2 * seq', '0', idle);
await fill(`1 + 2 * (seq * ${Math.max(1, Math.floor(idle / used))})`, now, used);
await pool.query('SET GLOBAL innodb_flush_log_at_trx_commit = 1');

const locks = createLocks(mysql(createPool(server.url), { sweep: 0 }));
const at = (share: number, times: number[]): string =>
  times.sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))]!.toFixed(1);

/** Sections of others, on keys of their own and on keys that are new, until `end`. */
async function sections(end: AbortSignal): Promise<string> {
  const times: number[] = [];
  for (let i = 0; !end.aborted; i++) {
    const start = performance.now();
    await locks.mutex(i % 2 === 0 ? 'mine' : `new ${systemClock.id()}`).run(async () => {});
    times.push(performance.now() - start);
  }
  return `${times.length} sections, ms: median ${at(0.5, times)}, 99% ${at(0.99, times)}, longest ${at(1, times)}`;
}

console.log('without a sweep:', await sections(AbortSignal.timeout(5_000)));
const over = new AbortController();
const beside = sections(over.signal);
const start = performance.now();
const swept = await backend.sweep();
const took = (performance.now() - start) / 1_000;
over.abort();
console.log(`swept ${swept} rows in ${took.toFixed(1)} s: ${Math.round(swept / took)}/s`);
console.log('beside it:', await beside);
await locks.close();
await backend.close();
process.exitCode = swept === idle ? 0 : 1;
await server[Symbol.asyncDispose]();
process.exit();
