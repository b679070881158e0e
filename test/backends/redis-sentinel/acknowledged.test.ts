import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RedisClient } from '../../../src/backends/redis/client.ts';
import type { RedisOptions } from '../../../src/backends/redis/index.ts';
import { redis } from '../../../src/backends/redis/index.ts';
import { createLocks, isLockError } from '../../../src/index.ts';
import { askRedis, type RedisSentinel, startRedis, startRedisSentinel } from '../../kit/redis.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { sentinelFleet } from '../redis/clients.ts';
import { Fleet, LIBRARIES } from '../redis/fleet.ts';
import { granted, Mail, wish } from '../redis/scene.ts';

const TWO: RedisOptions = { replicas: { acknowledge: 2, within: '200ms' } };

describeOn('redis', 'redis with replicas that acknowledge', () => {
  let group: RedisSentinel;
  let fleet: Fleet;

  beforeAll(async () => {
    group = await startRedisSentinel();
    fleet = new Fleet(group.servers[0]!.port);
  });
  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await group[Symbol.asyncDispose]();
  });

  test.each(
    LIBRARIES,
  )('an attempt again waits until what too few replicas have is given back, so a grant stays, by %s', async (library) => {
    const backend = await fleet.backend(library, TWO);
    const key = `again:${library}`;
    const claim = wish(key);
    group.servers[1]!.pause();
    const first = backend.attempt(claim).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 100)); // in the middle of the wait for the replicas
    const again = backend.attempt(claim).catch(() => undefined);
    await first;
    group.servers[1]!.resume();
    const isGranted = (await again)?.granted === true;
    const plain = await fleet.backend();
    const other = await plain.attempt(wish(key, { queue: false }));
    expect(other.granted, `another claim gets in, and the one before was granted: ${isGranted}`).toBe(!isGranted);
  });

  for (const library of LIBRARIES) {
    test(`${library}: a grant that the replicas have is shown, renewed, and given back`, async () => {
      const backend = await fleet.backend(library, TWO);
      const claim = wish(`shown:${library}`);
      granted(await backend.attempt(claim));
      expect(await backend.renew([claim])).toEqual([{ validFor: claim.ttl }]);
      expect((await backend.release(claim)).freed).toBe(true);
    });

    test(`${library}: where a replica stands still a grant is refused and undone, and a renewal is unknown`, async () => {
      const backend = await fleet.backend(library, TWO);
      const held = wish(`held:${library}`);
      granted(await backend.attempt(held));
      const key = `refused:${library}`;
      group.servers[1]!.pause();
      try {
        const error = await backend.attempt(wish(key)).catch((error) => error);
        expect(isLockError(error, 'LOCK_UNAVAILABLE'), String(error)).toBe(true);
        expect(String(error)).toMatch(/1 of the 2 replicas have it/);
        expect(await backend.renew([held])).toEqual(['unknown']);
        const plain = await fleet.backend();
        expect((await plain.attempt(wish(key, { queue: false }))).granted, 'it was given back').toBe(true);
      } finally {
        group.servers[1]!.resume();
      }
    });

    test(`${library}: that the connection for it was ended while nothing was asked costs the next one nothing`, async () => {
      const backend = await fleet.backend(library, TWO);
      granted(await backend.attempt(wish(`before:${library}`)));
      const clients = await askRedis(group.servers[0]!.port, 'CLIENT LIST');
      const [, line] = /id=(\d+).* cmd=wait /.exec(clients)!;
      await askRedis(group.servers[0]!.port, `CLIENT KILL ID ${line}`);
      const gone = async (): Promise<boolean> =>
        !(await askRedis(group.servers[0]!.port, 'CLIENT LIST')).includes(`id=${line} `);
      await until('the server has ended it', gone);
      await askRedis(group.servers[0]!.port, 'PING'); // a round trip later the client has seen it, too
      granted(await backend.attempt(wish(`after:${library}`)));
    });

    test(`${library}: what is answered only after closing opens no connection`, async () => {
      await using server = await startRedis();
      await using near = new Fleet(server.port);
      const { client } = await near.open(library);
      const backend = redis(client, TWO);
      server.pause();
      const asked = backend.attempt(wish('late')).catch(String);
      await backend.close();
      server.resume();
      expect(await asked).toContain('closed');
      expect(await askRedis(server.port, 'INFO clients')).toContain('connected_clients:2\r\n'); // the client's, and this one
    });

    test(`${library}: a key that the user may not touch harms nothing that is asked with it`, async () => {
      await askRedis(group.servers[0]!.port, 'ACL SETUSER part on >pw ~holdfast:{mine* &* +@all');
      await using near = new Fleet(group.servers[0]!.port, { username: 'part', password: 'pw' });
      const backend = await near.backend(library, TWO);
      granted(await backend.attempt(wish(`mine: first by ${library}`)));
      const keys = [1, 2, 3, 4, 5, 6, 7].map((i) => (i === 2 ? 'theirs' : `mine-${library}-${i}`));
      const attempts = await Promise.allSettled(keys.map((key) => backend.attempt(wish(key))));
      expect(attempts.map((attempt) => attempt.status === 'fulfilled' && attempt.value.granted)).toEqual(
        keys.map((key) => key !== 'theirs'),
      );
    });

    test(`${library}: what a mail tells is asked for before it is shown`, async () => {
      const backend = await fleet.backend(library, TWO);
      const [holder, waiter] = [wish(`mail:${library}`), wish(`mail:${library}`)];
      granted(await backend.attempt(holder));
      await using mail = await Mail.of(backend, waiter);
      await backend.attempt(waiter);
      await backend.release(holder);
      expect(await mail.next(), 'a wake, and no grant').toBeUndefined();
      granted(await backend.attempt(waiter));
    });
  }

  test('over sentinels the line is found, and waiters are served one after the other', async () => {
    await using near = sentinelFleet(group);
    await using locks = createLocks(await near.backend('ioredis', TWO));
    let inside = 0;
    const work = async (): Promise<void> => {
      expect(++inside).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 2));
      inside--;
    };
    await settleWithin(
      'all are served',
      Promise.all(Array.from({ length: 20 }, () => locks.mutex('served').run(work))),
    );
  });

  test('check says that more replicas are waited for than there are', async () => {
    const codes = async (acknowledge: number): Promise<string[]> => {
      const backend = await fleet.backend('ioredis', { replicas: { acknowledge, within: '200ms' } });
      return (await backend.check!()).map(({ code }) => code);
    };
    expect(await codes(2)).not.toContain('too-few-replicas');
    expect(await codes(3)).toContain('too-few-replicas');
    expect(await codes(3), 'it is no right that is missing').not.toContain('rights');
  });

  test('createSentinel() that is told a key prefix shares the locks of ioredis with that prefix', async () => {
    await using near = sentinelFleet(group, { keyPrefix: 'app:' });
    const [one, two] = [await near.backend('ioredis'), await near.backend('node-redis')];
    granted(await one.attempt(wish('prefixed')));
    expect((await two.attempt(wish('prefixed', { queue: false }))).granted).toBe(false);
    granted(await (await fleet.backend()).attempt(wish('prefixed')));
  });

  test('createSentinel() of node-redis, which cannot, is refused and says so', async () => {
    await using near = sentinelFleet(group);
    const backend = await near.backend('node-redis', TWO);
    const error = await backend.attempt(wish('cannot')).catch((error) => error);
    expect(isLockError(error, 'LOCK_UNSUPPORTED'), String(error)).toBe(true);
  });

  test('bad input is LOCK_INVALID and names the bound', () => {
    const client = fleet.ioredis();
    for (const replicas of [
      { acknowledge: 0 },
      { acknowledge: 1.5 },
      { acknowledge: 1, within: 0 },
      { acknowledge: 1, within: '1h' },
    ] as const) {
      expect(() => redis(client, { replicas })).toThrow(/replicas\.(acknowledge|within) is .* must be/);
    }
    const outside = { acknowledge: 1 } as RedisOptions;
    expect(() => redis(client, outside)).toThrow(/"acknowledge" is not one of options of redis\(\)/);
    const more = { acknowledge: 1, timeout: 50 };
    expect(() => redis(client, { replicas: more })).toThrow(/"timeout" is not one of options of replicas/);
    const four = { sendCommand() {}, evalSha() {}, eval() {}, duplicate() {}, subscribe() {}, disconnect() {} }; // of node-redis
    for (const client of [{}, null, 'redis://', { sendCommand() {}, execute() {}, duplicate() {} }, four]) {
      expect(() => redis(client as unknown as RedisClient)).toThrow(/redis\(\) needs a connected client/);
    }
  });
});
