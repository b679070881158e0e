import type { EventEmitter } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis, type RedisOptions } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RedisClient } from '../../../src/backends/redis/client.ts';
import { redis } from '../../../src/backends/redis/index.ts';
import { connect } from '../../../src/connect/index.ts';
import type { Backend, Claim } from '../../../src/core/contract/backend.ts';
import { isLockError } from '../../../src/core/contract/errors.ts';
import { createLocks, type Lease } from '../../../src/index.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import { askRedis, startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { Fleet, LIBRARIES, type Openers } from './fleet.ts';
import { granted, wish } from './scene.ts';
import { writesInScripts } from './version.ts';

/** Clients that are not led to another server: those of node-redis end with their connection. */
const staying = (port: number): Openers => ({
  ioredis: () => {
    const client = new Redis({ port });
    return { client, ready: Promise.resolve(), end: () => client.disconnect() };
  },
  'node-redis': () => {
    const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: false } });
    return { client, ready: client.connect(), end: () => (client.isOpen ? client.destroy() : undefined) };
  },
});

/** As each library's own logic is told of it: the reply is an error that begins with the code. */
const READONLY = /^READONLY /;

describeOn('redis', 'redis whose primary was demoted, and its clients', () => {
  let old: Server;
  let next: Server;

  beforeAll(async () => {
    [old, next] = [await startRedis(), await startRedis()];
  });
  afterAll(async () => {
    for (const server of [old, next]) await server?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await askRedis(old.port, 'REPLICAOF NO ONE');
    await askRedis(old.port, 'FLUSHALL');
    await askRedis(next.port, `REPLICAOF 127.0.0.1 ${old.port}`);
    await follows(next, old);
  });

  const follows = (replica: Server, primary: Server): Promise<void> =>
    until('the replica has everything', async () => {
      const offset = /^master_repl_offset:(\d+)/m.exec(await askRedis(primary.port, 'INFO replication'))![1];
      const theirs = await askRedis(replica.port, 'INFO replication');
      return theirs.includes('master_link_status:up') && theirs.includes(`slave_repl_offset:${offset}`);
    });

  /** The roles change, and nobody ends a connection. */
  async function demote(): Promise<void> {
    await follows(next, old);
    await askRedis(next.port, 'REPLICAOF NO ONE');
    await askRedis(old.port, `REPLICAOF 127.0.0.1 ${next.port}`);
    await follows(old, next);
  }

  const refused = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => new Error('it was not refused'),
      (thrown: Error) => thrown,
    );
    expect(isLockError(error), `a demotion may pass, so it is no definite refusal: ${error.message}`).toBe(false);
    return error.message;
  };

  for (const library of LIBRARIES) {
    test(`${library}: whatever is asked of a demoted primary is answered by an error, which the client sees`, async () => {
      await using fleet = new Fleet(staying(old.port));
      const backend = await fleet.backend(library);
      const [alone, held, behind, third] = [wish('alone'), wish('line'), wish('line'), wish('alone')];
      for (const claim of [alone, held]) granted(await backend.attempt(claim));
      await backend.attempt(behind);
      await demote();
      const asked: Record<string, () => Promise<unknown>> = {
        'an attempt': () => backend.attempt(wish('free')),
        'an attempt that stands in line': () => backend.attempt(third),
        'a release': () => backend.release(alone),
        'a hand-over': () => backend.release(held),
        'a release that takes the next along': () => backend.release(alone, wish('alone')),
      };
      for (const [what, ask] of Object.entries(asked)) {
        expect(await refused(ask()), what).toMatch(READONLY);
      }
      await Promise.all([refused(backend.release(alone)), refused(backend.release(held))]);
      expect(await backend.renew([alone, held])).toEqual(['unknown', 'unknown']);
    });
  }

  /** The errors that ioredis shows to `reconnectOnError`, by what the backend was asked. */
  async function shown(ask: (backend: Backend, holder: Claim) => Promise<unknown>): Promise<string[]> {
    const errors: string[] = [];
    await using fleet = new Fleet(old.port);
    const reconnectOnError: RedisOptions['reconnectOnError'] = ({ message }) => {
      errors.push(message);
      return false;
    };
    const backend = fleet.over(fleet.ioredis({ reconnectOnError }));
    const holder = wish('shown');
    granted(await backend.attempt(holder));
    await demote();
    errors.length = 0;
    await ask(backend, holder).catch(() => {});
    return errors.filter((message) => !message.startsWith('NOSCRIPT'));
  }

  test.each<[string, (backend: Backend, holder: Claim) => Promise<unknown>]>([
    ['a renewal', (backend, holder) => backend.renew([holder])],
    ['several renewals', (backend, holder) => backend.renew([holder, wish('other')])],
    ['a release', (backend, holder) => backend.release(holder)],
    ['a release that takes the next along', (backend, holder) => backend.release(holder, wish('shown'))],
  ])('%s shows a demotion to the logic that reconnects', async (_, ask) => {
    expect(await shown(ask)).toEqual([expect.stringMatching(READONLY)]);
  });

  /** Over a client through the proxy, which leads to the next primary when the old one is demoted. */
  async function costsOneReconnection(
    client: RedisClient & Pick<EventEmitter, 'on'>,
    proxy: FaultProxy,
    demoted = async (_: Lease): Promise<void> => {},
  ): Promise<void> {
    client.on('error', () => {});
    await using locks = createLocks(redis(client));
    const held = await locks.mutex('held').acquire({ ttl: '9s' });
    let reconnections = 0;
    client.on('connect', () => reconnections++);
    proxy.target = next.port;
    await demote();
    await demoted(held);
    await using other = await locks.mutex('other').acquire({ wait: '10s' });
    expect(other.held).toBe(true);
    expect(await held.release()).toBe(true);
    expect(reconnections).toBe(1);
  }

  test('ioredis with reconnectOnError: a demotion costs a holder one reconnection, and no lock', async () => {
    await using proxy = await startProxy(old.port);
    const client = new Redis({
      host: '127.0.0.1',
      port: proxy.port,
      reconnectOnError: ({ message }) => (message.includes('READONLY') ? 2 : false),
    });
    try {
      await costsOneReconnection(client, proxy, async (held) => {
        const deadline = (): number => performance.now() + held.remaining;
        const before = deadline();
        await until('it is renewed at the next primary', () => held.held && deadline() > before + 500, 8_500);
      });
    } finally {
      client.disconnect();
    }
  });

  test('connect(): a client of ours leaves a demoted primary by itself', async () => {
    await using proxy = await startProxy(old.port);
    await using locks = await connect(`redis://127.0.0.1:${proxy.port}`);
    const held = await locks.mutex('held').acquire({ ttl: '9s' });
    proxy.target = next.port;
    await demote();
    await using other = await locks.mutex('other').acquire({ wait: '10s' });
    expect(other.held).toBe(true);
    expect(await held.release()).toBe(true);
  });

  for (const library of LIBRARIES) {
    test(`${library}: a wait that ends at a server that refuses to write says in what words it refuses`, async ({
      skip,
    }) => {
      if (await writesInScripts(old.port)) skip('scripts of Redis 6 write all the same');
      await using fleet = new Fleet(old.port);
      await using locks = createLocks(await fleet.backend(library));
      await follows(next, old);
      await locks.mutex('known').run(() => {});
      await askRedis(old.port, 'CONFIG SET min-replicas-to-write 5');
      await using _ = {
        [Symbol.asyncDispose]: () => askRedis(old.port, 'CONFIG SET min-replicas-to-write 0').then(() => {}),
      };
      const waiting = (): Promise<unknown> => locks.mutex('refused').acquire({ wait: 600 });
      const words = (server: string) => ({
        code: 'LOCK_UNAVAILABLE',
        message: expect.stringMatching(`could not be had on redis within 600 ms: .*${server}`),
      });
      await expect(waiting()).rejects.toMatchObject(words('NOREPLICAS'));
      await askRedis(old.port, 'CONFIG SET min-replicas-to-write 0');
      await demote();
      await expect(waiting()).rejects.toMatchObject(words('READONLY'));
    });
  }

  test('node-redis leaves a demoted primary by itself, as ioredis does that is told to, and no lock is lost', async () => {
    await using proxy = await startProxy(old.port);
    const client = createClient({ socket: { host: '127.0.0.1', port: proxy.port } });
    client.on('error', () => {});
    await client.connect();
    try {
      await costsOneReconnection(client, proxy);
    } finally {
      client.destroy();
    }
  });

  test('node-redis at a demoted primary that no other took the place of: it is left once in a while, not at each refusal', async () => {
    const client = createClient({ socket: { host: '127.0.0.1', port: old.port } });
    client.on('error', () => {});
    await client.connect();
    const backend = redis(client);
    try {
      await demote();
      let reconnections = 0;
      client.on('connect', () => reconnections++);
      const until = performance.now() + 1_500;
      while (performance.now() < until) {
        await backend.attempt(wish('stays', { within: 200 })).catch(() => {});
        await sleep(5);
      }
      expect(reconnections).toBeGreaterThan(0);
      expect(reconnections, 'with a second between two').toBeLessThan(4);
      expect(await client.get('holdfast:{stays}'), 'what the client is used for goes on').toBeNull();
    } finally {
      await backend.close();
      client.destroy();
    }
  });

  test('connect(): a connection that nobody answers on, and nobody ends, is left within the time of a wait', async () => {
    await using dropped = await startRedis();
    await using proxy = await startProxy(dropped.port);
    await using locks = await connect(`redis://127.0.0.1:${proxy.port}`);
    await locks.mutex('warm').run(() => {});
    proxy.target = old.port;
    dropped.pause();
    try {
      await using lease = await locks.mutex('after').acquire({ wait: '15s' });
      expect(lease.held).toBe(true);
    } finally {
      dropped.resume();
    }
  });

  test('a save that fails for a while: a release that was refused is tried again, and the next gets in at once', async ({
    skip,
  }) => {
    await using own = await startRedis({ save: '3600 1000000', 'stop-writes-on-bgsave-error': 'yes' });
    if (await writesInScripts(own.port)) skip('scripts of Redis 6 write all the same');
    await using fleet = new Fleet(own.port);
    await using locks = createLocks(await fleet.backend('ioredis'));
    await using others = createLocks(await fleet.backend('node-redis'));
    const held = await locks.mutex('saving').acquire({ ttl: '30s' });
    const obstacle = await obstacleOf(own);
    await mkdir(join(obstacle, 'x'), { recursive: true });
    await askRedis(own.port, 'BGSAVE');
    await until('the save has failed', async () =>
      (await askRedis(own.port, 'INFO persistence')).includes('rdb_last_bgsave_status:err'),
    );
    expect(await held.release(), 'not known to be free').toBe(false);
    await rm(obstacle, { recursive: true });
    await askRedis(own.port, 'SAVE');
    await using next = await others.mutex('saving').acquire({ wait: '5s' });
    expect(next.held).toBe(true);
  });
});

/** What is in the way of the snapshot: with it, saving fails, and writes are refused with MISCONF. */
async function obstacleOf(server: Server): Promise<string> {
  const dir = (await askRedis(server.port, 'CONFIG GET dir')).trim().split('\r\n').at(-1)!;
  return join(dir, 'dump.rdb');
}
