import { afterAll, beforeAll, expect, test } from 'vitest';
import { redis } from '../../../src/backends/redis/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { NO_MARK } from '../../../src/core/contract/values.ts';
import { createLocks } from '../../../src/index.ts';
import { startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { Fleet } from './fleet.ts';
import { granted, Mail, wish } from './scene.ts';

describeOn('redis', 'what redis is asked', () => {
  let server: Server;
  let fleet: Fleet;
  let backend: Backend;

  beforeAll(async () => {
    server = await startRedis();
    fleet = new Fleet(server.port);
    backend = await fleet.backend();
    await backend.release(wish('warm'));
    granted(await backend.attempt(wish('warm')));
  });
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** Calls of each command since the last look, those made by scripts included. */
  const calls = async (): Promise<Record<string, number>> => {
    const client = fleet.ioredis();
    const stats = await client.info('commandstats');
    await client.config('RESETSTAT');
    client.disconnect();
    return Object.fromEntries(
      [...stats.matchAll(/cmdstat_([\w|]+):calls=(\d+)/g)].map(([, name, n]) => [name, Number(n)]),
    );
  };

  test('an uncontended lock costs two commands, and six inside them', async () => {
    const claim = wish('alone');
    await calls();
    granted(await backend.attempt(claim));
    await backend.release(claim);
    const { evalsha, time, get, set, ...others } = await calls();
    expect({ evalsha, time, get, set }).toEqual({ evalsha: 2, time: 2, get: 2, set: 2 });
    expect(Object.keys(others).filter((name) => !/^(info|config|hello|client|select)/.test(name))).toEqual([]);
  });

  test('a hold that leaves words costs two commands', async () => {
    const claim = wish('words', { accepts: { age: Number.POSITIVE_INFINITY, mark: NO_MARK, counts: 0 } });
    await calls();
    granted(await backend.attempt(claim));
    expect(await backend.store!(claim, { text: 'x', ttl: 60_000 })).toBe(true);
    granted(await backend.attempt(wish('after it'))); // on the same connection, behind whatever else was sent
    expect((await calls()).evalsha, 'with the one after it').toBe(3);
  });

  test('a process has one connection until something waits its turn, and two from then on', async () => {
    const admin = fleet.ioredis();
    /** All that the server has accepted since it started. */
    const connections = async (): Promise<number> =>
      Number(/total_connections_received:(\d+)/.exec(await admin.info('stats'))![1]);
    const client = fleet.ioredis();
    await client.ping();
    await using others = createLocks(await fleet.backend());
    await others.mutex('warm').run(() => {});
    const before = await connections();
    await using locks = createLocks(redis(client));
    await locks.mutex('quiet').run(() => {});
    await Promise.all(['a', 'b', 'c'].map((key) => locks.mutex(key).run(() => {})));
    expect(await connections(), 'while nothing waits').toBe(before);
    const holder = await others.mutex('asked for').acquire();
    const waiting = locks.mutex('asked for').acquire();
    await until('the second connection', async () => (await connections()) === before + 1);
    await holder.release();
    await (await waiting).release();
    expect(await connections()).toBe(before + 1);
  });

  test('what is asked in one turn goes out in three commands, so that client and server work at the same time', async () => {
    const claims = Array.from({ length: 40 }, (_, i) => wish(`turn-${i}`));
    await calls();
    for (const attempt of await Promise.all(claims.map((claim) => backend.attempt(claim)))) granted(attempt);
    await Promise.all(claims.map((claim) => backend.release(claim)));
    expect((await calls()).evalsha).toBe(6);
  });

  test('a renewal costs one command, and three inside it, which write no more than its time', async () => {
    const claim = wish('renewed');
    granted(await backend.attempt(claim));
    await calls();
    expect(await backend.renew([claim])).toEqual([{ validFor: claim.ttl }]);
    const { evalsha, time, get, pexpireat, setrange, set } = await calls();
    expect({ evalsha, time, get, pexpireat, setrange, set }).toEqual({
      ...{ evalsha: 1, time: 1, get: 1, pexpireat: 1, setrange: 1, set: undefined },
    });
  });

  test('a thousand holds are renewed by four commands', async () => {
    const claims = Array.from({ length: 1_000 }, (_, i) => wish(`many-${i}`));
    await Promise.all(claims.map((claim) => backend.attempt(claim)));
    await calls();
    expect(new Set((await backend.renew(claims)).map((renewal) => typeof renewal))).toEqual(new Set(['object']));
    expect((await calls()).evalsha).toBe(4);
  });

  test('a hand-over is one command and one message, and as dear for 2,000 waiters as for 10', async () => {
    const handOver = async (key: string, waiters: number): Promise<Record<string, number>> => {
      const line = Array.from({ length: waiters + 1 }, () => wish(key));
      const mails = await Promise.all(line.map((claim) => Mail.of(backend, claim)));
      await Promise.all(line.map((claim) => backend.attempt(claim)));
      await calls();
      await backend.release(line[0]!);
      expect(await mails[1]!.next()).toBeDefined();
      return calls();
    };
    const few = await handOver('few', 10);
    const many = await handOver('many', 2_000);
    expect([few.evalsha, few.publish]).toEqual([1, 1]);
    expect(few.pexpireat, 'the keys of a line are made to live longer seldom').toBeUndefined();
    expect([few.hget, few.zscore], 'who holds a mutex is not looked for: the lock names it').toEqual([1, undefined]);
    expect(many).toEqual(few);
  });
});
