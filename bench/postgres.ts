/**
 * PostgreSQL: an uncontended cycle and a hand-over between two processes' pools, each as a ratio to a floor measured in the
 * same run on the same client: two bare statements that take and free a lease row, and one bare NOTIFY.
 * Run: `node bench/postgres.ts`, or with `off` after it for a server that does not wait for its disk.
 */
import pg from 'pg';
import { postgres } from '../src/backends/postgres/index.ts';
import { EXCLUSIVE } from '../src/core/admission.ts';
import type { Claim } from '../src/core/backend.ts';
import { systemClock } from '../src/core/clock.ts';
import { startPostgres } from '../test/kit/postgres.ts';

const ROUNDS = 9;
const CYCLES = 200;

const TAKE = `INSERT INTO bare AS b VALUES ($1, $2, 1, clock_timestamp() + interval '30 s')
  ON CONFLICT (name) DO UPDATE SET owner = $2, fence = b.fence + 1, expires = clock_timestamp() + interval '30 s'
  WHERE b.expires <= clock_timestamp() RETURNING fence`;
const FREE = "UPDATE bare SET owner = '', expires = '-infinity' WHERE name = $1 AND owner = $2";

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

async function took(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const claim = (): Claim => ({
  key: 'bench',
  id: systemClock.id(),
  ...EXCLUSIVE,
  ttl: 30_000,
  queue: true,
  span: 64,
  within: 5_000,
  label: '',
});

await using server = await startPostgres({ fsync: process.argv[2] === 'off' ? 'off' : 'on' });
const pools = [1, 2].map(() => new pg.Pool({ connectionString: server.url }));
const [one, two] = pools.map((pool) => postgres(pool)) as [ReturnType<typeof postgres>, ReturnType<typeof postgres>];
const [pool] = pools as [pg.Pool, pg.Pool];
await pool.query('CREATE TABLE bare (name bytea PRIMARY KEY, owner text, fence bigint, expires timestamptz)');

async function bareCycle(): Promise<void> {
  const values = [Buffer.from('bench'), systemClock.id()];
  await pool.query({ name: 'take', text: TAKE, values });
  await pool.query({ name: 'free', text: FREE, values });
}

async function ourCycle(): Promise<void> {
  const mine = claim();
  await one.attempt(mine);
  await one.release(mine);
}

const many = (cycle: () => Promise<void>) =>
  took(async () => {
    for (let n = 0; n < CYCLES; n++) await cycle();
  });

const listener = new pg.Client(server.url);
await listener.connect();
await listener.query('LISTEN hop');

async function hop(): Promise<number> {
  const heard = new Promise<void>((resolve) => listener.once('notification', () => resolve()));
  return took(() =>
    Promise.all([heard, pool.query({ name: 'hop', text: "SELECT pg_notify('hop', $1)", values: [systemClock.id()] })]),
  );
}

/** From the release by one to the news at the other. */
async function handOver(): Promise<number> {
  const [holder, waiter] = [claim(), claim()];
  await one.attempt(holder);
  const heard = Promise.withResolvers<void>();
  await using _ = await two.watch!(waiter, (grant) => grant && heard.resolve());
  await two.attempt(waiter);
  const ms = await took(() => Promise.all([one.release(holder), heard.promise]));
  await two.release(waiter);
  return ms;
}

// The second process listens from its first wait on; check() has tried it.
await Promise.all([one.check!(), two.check!()]);
await many(bareCycle);
await many(ourCycle);
const cycles: number[] = [];
for (let round = 0; round < ROUNDS; round++) cycles.push((await many(bareCycle)) / (await many(ourCycle)));
const hops: number[] = [];
const handOvers: number[] = [];
for (let n = 0; n < CYCLES; n++) {
  hops.push(await hop());
  handOvers.push(await handOver());
}
console.log(`cycle: ${median(cycles).toFixed(2)} × two bare statements`);
console.log(
  `hand-over: ${(median(handOvers) / median(hops)).toFixed(2)} × a bare NOTIFY (${median(hops).toFixed(2)} ms)`,
);

await Promise.all([one.close(), two.close(), listener.end()]);
await Promise.all(pools.map((each) => each.end()));
