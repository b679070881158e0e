import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LockFactory } from '@verrou/core';
import { redisStore } from '@verrou/core/drivers/redis';
import { Redis } from 'ioredis';
import { createClient, type RedisClientType } from 'redis';
import { Mutex } from 'redis-semaphore';
import Redlock from 'redlock';
import { redis } from '../../src/backends/redis/index.ts';
import { ATTEMPT, PASS, RELEASE } from '../../src/backends/redis/scripts.generated.ts';
import { attemptArgs, readMessage, releaseArgs } from '../../src/backends/redis/wire.ts';
import { HOST } from '../../test/kit/net.ts';
import type { Contestant, Contestants, Place, Release } from '../contestant.ts';
import { apart, fleet, holdfast, inBlocks } from './holdfast.ts';

const TTL = 30_000;
/** Of the server's clock, µs: never too late. */
export const LAST_MOMENT = 9_999_999_999_999_000;
/** As `remember` of redis() by default. ms. */
export const REMEMBER = 300_000;
/** Of the poll that stands for "just SET NX in a loop". ms. */
const POLL = 5;
export const COMPARE_AND_DELETE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

const connect = ({ port }: Place): Redis => new Redis({ host: HOST, port });
const gathering = ({ port }: Place): Redis => new Redis({ host: HOST, port, enableAutoPipelining: true });

/** The floor: what anyone would write first, a pair of commands, and a poll where the key is taken. */
async function bare(place: Place, client: Redis = connect(place)): Promise<Contestant> {
  const sha1 = (await client.script('LOAD', COMPARE_AND_DELETE)) as string;
  return {
    lock: (key) => async () => {
      const value = randomUUID();
      while ((await client.set(key, value, 'PX', TTL, 'NX')) === null) await sleep(POLL);
      return () => client.evalsha(sha1, 1, key, value);
    },
  };
}

async function nodeRedis({ port }: Place): Promise<RedisClientType> {
  const client: RedisClientType = createClient({ socket: { host: HOST, port } });
  await client.connect();
  return client;
}

/** The floor over the other client. For callers with keys of their own: it does not wait. */
async function bareNodeRedis(place: Place): Promise<Contestant> {
  const client = await nodeRedis(place);
  const sha1 = await client.scriptLoad(COMPARE_AND_DELETE);
  return {
    lock: (key) => async () => {
      const value = randomUUID();
      await client.set(key, value, { expiration: { type: 'PX', value: TTL }, condition: 'NX' });
      return () => client.evalSha(sha1, { keys: [key], arguments: [value] });
    },
  };
}

/** The least script that gives a token, which a SET alone cannot: the server's time. Without a line, and without a memory of the last. */
export const TOKEN = `local time = redis.call('TIME')
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return time[1] .. time[2] end`;

/** The bare pair with a token. For one caller: it does not wait. */
async function token(place: Place): Promise<Contestant> {
  const client = connect(place);
  const take = (await client.script('LOAD', TOKEN)) as string;
  const free = (await client.script('LOAD', COMPARE_AND_DELETE)) as string;
  return {
    lock: (key) => async () => {
      const value = randomUUID();
      await client.evalsha(take, 1, key, value, TTL);
      return () => client.evalsha(free, 1, key, value);
    },
  };
}

/** The floor of a hand-over: two processes throw a baton by PUBLISH, with nothing around it. */
async function baton(place: Place): Promise<Contestant> {
  const [client, ear] = [connect(place), connect(place)];
  const batons: true[] = place.seat === 0 ? [true] : [];
  let caught: (() => void) | undefined;
  ear.on('message', () => {
    batons.push(true);
    caught?.();
  });
  await ear.subscribe(`baton:${place.seat}`);
  const release = (): unknown => client.publish(`baton:${1 - place.seat}`, 'here');
  return {
    lock: () => async (): Promise<Release> => {
      while (!batons.pop()) await new Promise<void>((resolve) => (caught = resolve));
      return release;
    },
  };
}

/** Our two scripts with nothing of ours around them: what is left of the distance to the floor is not the client's. */
async function scripts(place: Place): Promise<Contestant> {
  const [client, ear] = [connect(place), connect(place)];
  for (const { text } of [ATTEMPT, RELEASE]) await client.script('LOAD', text);
  const channel = `scripts:${place.run}:${place.seat}`;
  const waiting = new Map<string, () => void>();
  ear.on('message', (_channel, mail) => waiting.get(readMessage(mail)!.id)?.());
  await ear.subscribe(channel);
  return {
    lock: (key) => async () => {
      const id = randomUUID();
      const claim = { key, id, units: 1, capacity: 1, ttl: TTL, queue: true, tokenCount: 1, within: TTL, label: '' };
      const told = new Promise<void>((resolve) => waiting.set(id, resolve));
      const asked = attemptArgs(claim, channel, LAST_MOMENT, REMEMBER);
      const reply = (await client.evalsha(ATTEMPT.sha1, 1, key, ...asked)) as number | string;
      if (String(reply).startsWith('0 ')) await told;
      waiting.delete(id);
      return () => client.evalsha(RELEASE.sha1, 1, key, ...releaseArgs(id, REMEMBER));
    },
  };
}

/** A cycle of one round trip: our script that gives back and takes again, with nothing of ours around it. For one caller. */
async function pass(place: Place): Promise<Contestant> {
  const client = connect(place);
  for (const { text } of [ATTEMPT, PASS]) await client.script('LOAD', text);
  const asked = (key: string, id: string): string[] =>
    attemptArgs(
      { key, id, units: 1, capacity: 1, ttl: TTL, queue: true, tokenCount: 1, within: TTL, label: '' },
      '-',
      LAST_MOMENT,
      REMEMBER,
    );
  /** By key: the id that has it or is about to, and the answer to its attempt. */
  const holds = new Map<string, { readonly id: string; readonly taken: Promise<unknown> }>();
  return {
    lock: (key) => async () => {
      const first = randomUUID();
      const hold = holds.get(key) ?? { id: first, taken: client.evalsha(ATTEMPT.sha1, 1, key, ...asked(key, first)) };
      await hold.taken;
      return () => {
        const id = randomUUID();
        const taken = client.evalsha(PASS.sha1, 1, key, ...releaseArgs(hold.id, REMEMBER), ...asked(key, id));
        holds.set(key, { id, taken });
      };
    },
  };
}

function redlock(place: Place): Contestant {
  const locks = new Redlock([connect(place)], { retryCount: -1 });
  locks.on('error', () => {}); // it tells of every refusal
  return {
    lock: (key) => async () => {
      const lock = await locks.acquire([key], TTL);
      return () => lock.release();
    },
  };
}

function redisSemaphore(place: Place): Contestant {
  const client = connect(place);
  return {
    lock: (key) => async () => {
      const mutex = new Mutex(client, key, { lockTimeout: TTL, acquireTimeout: Number.POSITIVE_INFINITY });
      await mutex.acquire();
      return () => mutex.release();
    },
  };
}

function verrou(place: Place): Contestant {
  const factory = new LockFactory(redisStore({ connection: connect(place) }).factory());
  return {
    lock: (key) => async () => {
      const lock = factory.createLock(key, TTL);
      await lock.acquire();
      return () => lock.release();
    },
  };
}

export default {
  holdfast: (place) => holdfast(redis(connect(place))),
  fleet: (place) => fleet(place, () => redis(connect(place))),
  'holdfast, no hand-off': (place) => holdfast(redis(connect(place)), { handOff: false }),
  'holdfast, release not awaited': (place) => inBlocks(redis(connect(place)), { awaitRelease: false }),
  'holdfast, release not awaited, no hand-off': (place) =>
    inBlocks(redis(connect(place)), { awaitRelease: false, handOff: false }),
  'holdfast, linger': (place) => holdfast(redis(connect(place)), { handOff: { linger: '5ms' } }),
  'holdfast, apart': (place) => apart(redis(connect(place))),
  'holdfast, autopipelining': (place) => holdfast(redis(gathering(place))),
  'holdfast, node-redis': async (place) => holdfast(redis(await nodeRedis(place))),
  bare: (place) => bare(place),
  'bare, autopipelining': (place) => bare(place, gathering(place)),
  'bare, node-redis': bareNodeRedis,
  token,
  scripts,
  pass,
  baton,
  redlock,
  'redis-semaphore': redisSemaphore,
  verrou,
} satisfies Contestants;
