/**
 * What PostgreSQL does over a long time: hand-overs of one key, and keys that are used once.
 *
 *   node bench/postgres-long.ts hand-overs [how many] [snapshot]    the rate and the size, part by part
 *   node bench/postgres-long.ts sweep [rows]                        idle rows, until they are gone
 *
 * `snapshot`: with another session's snapshot held open beside it, which keeps dead rows from being removed.
 */
import pg from 'pg';
import { type PgPool, postgres } from '../src/backends/postgres/index.ts';
import { createLocks } from '../src/index.ts';
import { startPostgres } from '../test/kit/postgres.ts';

const [kind = 'hand-overs', amount, beside] = process.argv.slice(2);
const PARTS = 10;
const CALLERS = 8;

// Without waiting for the disk, so that what is measured is the work and not the disk.
await using server = await startPostgres({ fsync: 'off' });
const admin = new pg.Client(server.url);
await admin.connect();
const number = async (sql: string): Promise<number> => Number(Object.values((await admin.query(sql)).rows[0])[0]);
const kilobytes = async (): Promise<number> =>
  Math.round(
    (await number(
      "SELECT pg_total_relation_size('holdfast.holdfast_keys') + pg_total_relation_size('holdfast.holdfast_queue')",
    )) / 1024,
  );

async function handOvers(total: number): Promise<void> {
  const pools = [1, 2].map(() => new pg.Pool({ connectionString: server.url, max: CALLERS }));
  const all = pools.map((pool) => createLocks(postgres(pool), { handOff: false }));
  const run = async (count: number): Promise<number> => {
    let left = count;
    const began = performance.now();
    const caller = async (n: number): Promise<void> => {
      while (left-- > 0) await all[n % 2]!.mutex('hot').run(async () => {});
    };
    await Promise.all(Array.from({ length: CALLERS }, (_, n) => caller(n)));
    return (count / (performance.now() - began)) * 1_000;
  };
  await run(500);
  await admin.query('ANALYZE'); // as autovacuum does sooner or later
  const old = new pg.Client(server.url);
  await old.connect();
  if (beside === 'snapshot') await old.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
  for (let part = 1; part <= PARTS; part++) {
    const rate = await run(total / PARTS);
    console.log(`${(total / PARTS) * part} hand-overs: ${Math.round(rate)}/s, ${await kilobytes()} kB`);
  }
  await old.end();
  for (const locks of all) await locks.close();
  for (const pool of pools) await pool.end();
}

async function sweep(rows: number): Promise<void> {
  const pool = new pg.Pool({ connectionString: server.url });
  let longest = 0;
  const timed: PgPool = {
    async query(query) {
      const asked = performance.now();
      const answer = await pool.query(query);
      longest = Math.max(longest, performance.now() - asked);
      return answer;
    },
    on: (event, listener) => pool.on(event, listener),
  };
  const backend = postgres(timed, { connect: false });
  await backend.setup();
  longest = 0;
  await admin.query(
    `INSERT INTO holdfast.holdfast_keys (key, last, capacity, expires)
     SELECT convert_to('order:' || n, 'UTF8'), n, 1, now() - interval '1 day' FROM generate_series(1, $1::int) n`,
    [rows],
  );
  await admin.query(`SELECT setval('holdfast.holdfast_tokens', ${rows + 1_000})`);
  const began = performance.now();
  let removed = 0;
  for (let left = rows; left > 0; ) {
    const gone = await backend.sweep();
    removed += gone;
    left = gone === 0 ? 0 : left - gone;
    if (performance.now() - began > 120_000) break;
  }
  const seconds = (performance.now() - began) / 1_000;
  const left = await number('SELECT count(*) FROM holdfast.holdfast_keys');
  console.log(
    `${removed} rows in ${seconds.toFixed(1)} s: ${Math.round(removed / seconds)}/s; ${left} left; longest statement ${longest.toFixed(0)} ms`,
  );
  await backend.close();
  await pool.end();
}

if (kind === 'sweep') await sweep(Number(amount ?? 3_000_000));
else await handOvers(Number(amount ?? 100_000));
await admin.end();
