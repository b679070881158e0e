import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createStock, type Product, redisStock, type Stock } from '../../products/stock/index.ts';
import { redis } from '../../src/backends/redis/index.ts';
import { createLocks } from '../../src/index.ts';
import { HOST } from '../../test/kit/net.ts';
import type { Contestant, Contestants, Place, Release } from '../contestant.ts';

const UNITS = 1_000_000_000;
const SEGMENTS = 20;

async function connect(place: Place, pipelined = false): Promise<Redis> {
  const client = new Redis({ host: HOST, port: place.port, enableAutoPipelining: pipelined });
  if (place.seat === 0) await client.flushall(); // what the last one sold
  return client;
}

/** What anyone would write first: a count, and one lock around reading it, the work, and writing it. */
async function oneLock(place: Place): Promise<Contestant> {
  const client = await connect(place);
  const mutex = createLocks(redis(client)).mutex('sale');
  await client.set('count', UNITS);
  return {
    lock: () => async () => {
      const lease = await mutex.acquire();
      const left = Number(await client.get('count'));
      return async () => {
        await client.set('count', left - 1);
        return lease.release();
      };
    },
  };
}

/** The work is what lies between the caller's taking and its release. */
/** Everyone of this run sells the same product; the first one makes it. */
async function productOf(place: Place, stock: Stock, segments: number): Promise<Product> {
  if (place.seat === 0) return stock.create(place.run, { units: UNITS, segments });
  for (let tries = 0; tries < 200; tries++) {
    try {
      return await stock.open(place.run);
    } catch {
      await sleep(20);
    }
  }
  throw new Error('nobody made the product');
}

async function segmented(place: Place, segments: number): Promise<Contestant> {
  const client = await connect(place);
  const stock = createStock(redisStock(client), { locks: createLocks(redis(client)) });
  const product = await productOf(place, stock, segments);
  let buyers = 0;
  return {
    lock: () => async () => {
      const begun = Promise.withResolvers<void>();
      const over = Promise.withResolvers<void>();
      const sold = product.sell({ buyer: `buyer ${place.seat} ${++buyers}` }, () => {
        begun.resolve();
        return over.promise;
      });
      await Promise.race([begun.promise, sold]);
      return () => {
        over.resolve();
        return sold;
      };
    },
  };
}

const nothing: Release = () => {};

async function atomic(place: Place, pipelined: boolean): Promise<Contestant> {
  const stock = createStock(redisStock(await connect(place, pipelined)));
  const product = await stock.create('phone', { units: UNITS, segments: SEGMENTS });
  let sales = 0;
  return {
    lock: () => async () => {
      await product.take({ buyer: `buyer ${++sales}`, request: 'order' });
      return nothing;
    },
  };
}

/** Writes the same records: the segment's counts, what became of the request, and what the buyer has. */
const SALE = `
local cell = redis.call('HMGET', KEYS[1], 'free', 'sold')
if tonumber(cell[1]) < tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
redis.call('HINCRBY', KEYS[3], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[1], 'free', cell[1] - ARGV[3], 'sold', cell[2] + ARGV[3])
return 1`;

async function bareScript(place: Place, pipelined: boolean): Promise<Contestant> {
  const client = await connect(place, pipelined);
  const sha1 = (await client.script('LOAD', SALE)) as string;
  const cells = Array.from({ length: SEGMENTS }, (_, i) =>
    ['cell', 'requests', 'bought'].map((part) => `holdfast:stock:{phone/${i}}:${part}`),
  );
  for (const [cell] of cells) await client.hset(cell!, 'free', UNITS / SEGMENTS, 'sold', 0);
  let sales = 0;
  return {
    lock: () => async () => {
      const buyer = `buyer ${++sales}`;
      const keys = cells[sales % SEGMENTS]!;
      if ((await client.evalsha(sha1, 3, ...keys, `${buyer}:order`, buyer, '1', `sold 1 0 ${buyer}`)) !== 1) {
        throw new Error('there were units enough');
      }
      return nothing;
    },
  };
}

export const CURVE: readonly number[] = [1, 2, 5, 10, 20, 50, 100];

export const segmentsOf = (n: number): string => `${n} segment${n === 1 ? '' : 's'}`;

export default {
  'one lock': oneLock,
  ...Object.fromEntries(CURVE.map((n) => [segmentsOf(n), (place: Place) => segmented(place, n)])),
  'one step': (place) => atomic(place, false),
  'one step, pipelined': (place) => atomic(place, true),
  'bare script': (place) => bareScript(place, false),
  'bare script, pipelined': (place) => bareScript(place, true),
} satisfies Contestants;
