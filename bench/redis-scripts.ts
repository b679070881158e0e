/**
 * What scripts cost a Redis server: node bench/redis-scripts.ts [waiters, default 10,000]
 *
 * First the usual ones, by what the server says that a call takes on average (`INFO commandstats`); the best of twenty rounds counts.
 * Then the longest that any script keeps the server busy, from its slow log.
 *
 * Each state is made anew: a line of dead waiters, readers behind a writer, reservations that run out, a product of ten times
 * as many requests. The slow log counts the time from a script's begin to its end, also that in which the system let others run:
 * so the server has a core of its own, every state is made three times, and the best of the three longest counts.
 */
import { Redis } from 'ioredis';
import { createStock, redisStock } from '../products/stock/index.ts';
import { redis } from '../src/backends/redis/index.ts';
import { SHARED } from '../src/core/contract/admission.ts';
import type { Backend, Claim } from '../src/core/contract/backend.ts';
import { Mail, wish } from '../test/backends/redis/scene.ts';
import { HOST } from '../test/kit/net.ts';
import { startRedis } from '../test/kit/redis.ts';
import { coresApart } from './cores.ts';

const [many = 10_000] = process.argv.slice(2).map(Number);
/** What is not worth a line in the slow log, microseconds. */
const SHORT = 200;
const SEED = `for i = ARGV[1], ARGV[2] do redis.call('HSET', KEYS[1], 'r:' .. i, 'sold 1 0 buyer') end`;

/** Rounds; the best counts. */
const ROUNDS = 3;
const USUAL_ROUNDS = 20;
/** Claims that are asked for one after the other, and in one turn, which three commands share. */
const LONE = 500;
const BATCH = 120;
const SHARED_BY = 40;
/** As many as one command renews. */
const HOLDS = 250;

await using server = await startRedis();
using _ = coresApart([server.pid], [process.pid]);
const admin = new Redis(server.port, HOST);
await admin.config('SET', 'slowlog-log-slower-than', SHORT);
await admin.config('SET', 'slowlog-max-len', 10_000);

const found = new Map<string, number>();

async function longest(what: string, act: () => Promise<unknown>): Promise<void> {
  await admin.call('SLOWLOG', 'RESET');
  await act();
  const log = (await admin.call('SLOWLOG', 'GET', 10_000)) as [number, number, number, string[]][];
  const times = log.filter(([, , , [command]]) => /^eval/i.test(command!)).map(([, , micros]) => micros / 1_000);
  found.set(what, Math.min(found.get(what) ?? Number.POSITIVE_INFINITY, Math.max(SHORT / 1_000, ...times)));
}

const open = (): { client: Redis; backend: Backend } => {
  const client = new Redis(server.port, HOST);
  return { client, backend: redis(client) };
};
const count = many.toLocaleString('en');

async function waiters(): Promise<void> {
  const { client, backend } = open();
  const [dead, holder] = [open(), wish('dead')];
  await backend.attempt(holder);
  const claims = Array.from({ length: many }, () => wish('dead'));
  await Mail.of(dead.backend, claims[0]!);
  await longest(`${count} waiters come`, () => Promise.all(claims.map((claim) => dead.backend.attempt(claim))));
  await dead.backend.close();
  dead.client.disconnect();
  const waiter = wish('dead');
  const mail = await Mail.of(backend, waiter);
  await backend.attempt(waiter);
  await longest(`${count} dead waiters are passed`, async () => {
    await backend.release(holder);
    await mail.next(60_000);
  });
  await backend.close();
  client.disconnect();
}

async function readers(): Promise<void> {
  const { client, backend } = open();
  const writer = wish('read');
  await backend.attempt(writer);
  const readers = Array.from({ length: many }, () => wish('read', {}, SHARED));
  const mails = await Promise.all(readers.map((reader) => Mail.of(backend, reader)));
  await Promise.all(readers.map((reader) => backend.attempt(reader)));
  await longest(`${count} readers are admitted`, async () => {
    await backend.release(writer);
    for (const mail of mails) await mail.next(60_000);
  });
  await longest(`${count} readers are renewed`, () => backend.renew(readers));
  await longest('a writer asks beside them', () => backend.attempt(wish('read', { queue: false })));
  await longest(`${count} readers leave`, () => Promise.all(readers.map((reader) => backend.release(reader))));
  await backend.close();
  client.disconnect();
}

async function holds(): Promise<void> {
  const { client, backend } = open();
  const claims = Array.from({ length: many }, (_, i) => wish(`own:${i}`));
  await Promise.all(claims.map((claim) => backend.attempt(claim)));
  await longest(`${count} holds are renewed`, () => backend.renew(claims));
  await backend.close();
  client.disconnect();
}

async function reservations(): Promise<void> {
  const store = redisStock(admin);
  const kind = { op: 'take', epoch: 1, buyer: 'a', units: 1, limit: 0, already: 0, token: '', ttl: 1 } as const;
  await store.step('due', 0, [
    { op: 'open', epoch: 1 },
    { op: 'put', epoch: 1, id: 'p:', units: many },
  ]);
  for (let i = 0; i < many; i += 100)
    await store.step(
      'due',
      0,
      Array.from({ length: 100 }, (_, j) => ({ ...kind, id: `r:${i + j}`, buyer: `b${i + j}`, ttl: 30_000 })),
    );
  const due = (await admin.keys('holdfast:stock:{due*}:due'))[0]!;
  await admin.eval(
    `for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[1], 1, id) end`,
    1,
    due,
  );
  await longest(`stock: ${count} reservations ran out`, async () => {
    while ((await admin.zcard(due)) > 0) await store.step('due', 0, [{ op: 'tally' }]);
  });
}

async function requests(): Promise<void> {
  const stock = createStock(redisStock(admin));
  const total = many * 10;
  const product = await stock.create('huge', { units: total, segments: 1, reserve: 0 });
  await product.take({ buyer: 'x' });
  const [key] = await admin.keys('holdfast:stock:{huge@*/0}:requests');
  for (let i = 1; i < total; i += 10_000) await admin.eval(SEED, 1, key!, i, Math.min(total - 1, i + 9_999));
  await admin.hset(key!.replace(/requests$/, 'cell'), { free: 0, sold: total });
  await longest(`stock: an audit of ${total.toLocaleString('en')} requests`, () => product.audit());
  await longest('stock: its removal', () => stock.remove('huge'));
}

/** The mean of one call, µs, over what `act` sends. */
async function costOf(act: () => Promise<unknown>): Promise<number> {
  await admin.config('RESETSTAT');
  await act();
  return Number(/cmdstat_evalsha:.*?usec_per_call=([\d.]+)/.exec(await admin.info('commandstats'))![1]);
}

/** What one script does most of the time, µs a claim. */
async function usual(): Promise<ReadonlyMap<string, number>> {
  const { client, backend } = open();
  const cheapest = new Map<string, number>();
  async function note(what: string, claims: number, act: () => Promise<unknown>): Promise<void> {
    const cost = (await costOf(act)) / claims;
    cheapest.set(what, Math.min(cheapest.get(what) ?? Number.POSITIVE_INFINITY, cost));
  }
  const lone = Array.from({ length: LONE }, (_, i) => wish(`lone:${i}`));
  const batch = Array.from({ length: BATCH }, (_, i) => wish(`batch:${i}`));
  const holds = Array.from({ length: HOLDS }, (_, i) => wish(`hold:${i}`));
  const line = Array.from({ length: LONE }, () => wish('hot'));
  await backend.attempt(wish('warm'));
  const mails = new Map(await Promise.all(line.map(async (claim) => [claim, await Mail.of(backend, claim)] as const)));
  for (let round = 0; round < USUAL_ROUNDS; round++) {
    const oneByOne = async (claims: readonly Claim[], act: (claim: Claim) => Promise<unknown>): Promise<void> => {
      for (const claim of claims) await act(claim);
    };
    await note('one lock is taken', 1, () => oneByOne(lone, (claim) => backend.attempt(claim)));
    await note('one hold is renewed', 1, () => oneByOne(lone, (claim) => backend.renew([claim])));
    await note('one lock is released', 1, () => oneByOne(lone, (claim) => backend.release(claim)));
    const parts = Math.ceil(BATCH / SHARED_BY);
    await note(`${BATCH} locks are taken`, BATCH / parts, () =>
      Promise.all(batch.map((claim) => backend.attempt(claim))),
    );
    await note(`${BATCH} locks are released`, BATCH / parts, () =>
      Promise.all(batch.map((claim) => backend.release(claim))),
    );
    await Promise.all(holds.map((claim) => backend.attempt(claim)));
    await note(`${HOLDS} holds are renewed`, HOLDS, () => backend.renew(holds));
    const [holder, ...waiters] = line;
    await backend.attempt(holder!);
    await note('a claim stands in line', 1, () => oneByOne(waiters, (claim) => backend.attempt(claim)));
    await note('the next in line is told', 1, () =>
      oneByOne(line, async (claim) => {
        if (claim !== holder) await mails.get(claim)!.next();
        await backend.release(claim);
      }),
    );
  }
  for (const mail of mails.values()) await mail[Symbol.asyncDispose]();
  await backend.close();
  client.disconnect();
  await admin.flushall();
  return cheapest;
}

for (const [what, micros] of await usual()) console.log(`${what}: ${micros.toFixed(2)} µs a claim`);

for (let round = 0; round < ROUNDS; round++) {
  for (const state of [waiters, readers, holds, reservations, requests]) {
    await state();
    await admin.flushall();
  }
}
for (const [what, ms] of found)
  console.log(`${what}: longest script ${ms <= SHORT / 1_000 ? 'under ' : ''}${ms.toFixed(1)} ms`);
admin.disconnect();
