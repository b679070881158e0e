import { Redis, type RedisOptions } from 'ioredis';
import { BasicClientSideCache, createClient, RESP_TYPES, type RedisClientOptions } from 'redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { redis } from '../../../src/backends/redis/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { redisFence } from '../../../src/fence/redis.ts';
import { startProxy } from '../../kit/proxy.ts';
import { askRedis, startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { Fleet, LIBRARIES, type Openers } from './fleet.ts';
import { granted, Mail, wish } from './scene.ts';

/** Clients with these options, each of its own library. */
const clients = (port: number, ours: RedisOptions, theirs: RedisClientOptions): Openers => ({
  ioredis: () => {
    const client = new Redis({ port, ...ours });
    return { client, ready: Promise.resolve(), end: () => client.disconnect() };
  },
  'node-redis': () => {
    const client = createClient({ socket: { host: '127.0.0.1', port }, ...theirs });
    return { client, ready: client.connect(), end: () => (client.isOpen ? client.destroy() : undefined) };
  },
});

async function keysSeen(backend: Backend): Promise<string[]> {
  const seen: string[] = [];
  for await (const { key } of backend.inspect!('')) seen.push(key);
  return seen;
}

describeOn('redis', 'redis, what the client is told', () => {
  let server: Server;

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('clients of both libraries with one key prefix share their locks, notes and fences, and nobody else’s', async () => {
    await using fleet = new Fleet(clients(server.port, { keyPrefix: 'app:' }, { keyPrefix: 'app:' }));
    const one = await fleet.backend('ioredis');
    const two = await fleet.backend('node-redis');
    const claim = wish('shared');
    granted(await one.attempt(claim));
    expect((await two.attempt(wish('shared', { queue: false }))).granted, 'beside a holder of the other library').toBe(
      false,
    );
    expect(await keysSeen(two)).toEqual(['shared']);
    await two.hints!.write('note', 'words', 10_000);
    expect(await one.hints!.read('note')).toBe('words');
    await redisFence(await fleet.client('ioredis'), 'thing').claim(2n);
    await expect(redisFence(await fleet.client('node-redis'), 'thing').claim(1n)).rejects.toThrow('2 was seen');
    expect(await askRedis(server.port, 'KEYS *')).not.toContain('\nholdfast');
    expect((await one.release(claim)).freed).toBe(true);
  });

  test('a client in MULTI is said to be the reason, and not taken for an answer', async () => {
    await using fleet = new Fleet(clients(server.port, {}, {}));
    const client = (await fleet.client('ioredis')) as Redis;
    const backend = fleet.over(client);
    const claim = wish('multi', { within: 1_000 });
    granted(await backend.attempt(claim));
    await client.multi({ pipeline: false });
    for (const ask of [
      () => backend.attempt(wish('multi')),
      () => backend.release(claim),
      () => backend.attempt(claim),
    ]) {
      await expect(ask()).rejects.toThrow('in MULTI');
    }
    expect(await backend.renew([claim])).toEqual(['unknown']);
    await client.discard();
    expect((await backend.release(claim)).freed).toBe(true);
  });

  test('what asks for a lock waits for no pipeline of a client that gathers commands', async () => {
    await using proxy = await startProxy(server.port);
    await using fleet = new Fleet(clients(proxy.port, { enableAutoPipelining: true }, {}));
    const client = (await fleet.client('ioredis')) as Redis;
    const backend = redis(client, { prefix: 'gathered' });
    const first = wish('a');
    granted(await backend.attempt(first)); // from here on it knows the server's time
    proxy.stall('down');
    const pipeline = [client.incr('of the app'), client.incr('another')];
    const there = (what: string, key: string): Promise<void> =>
      until(what, async () => (await askRedis(server.port, `EXISTS ${key}`)).includes('1'));
    await there('the pipeline of the app is on its way', 'another');
    const second = backend.attempt(wish('b'));
    await there('the lock is asked for while the pipeline has no answer', 'gathered:{b}');
    const note = backend.hints!.write('c', 'words', 10_000);
    await there('a note is written meanwhile', 'gathered:{c}:hint');
    const fence = redisFence(client, 'd', { prefix: 'gathered' }).claim(1n);
    await there('a fence is claimed meanwhile', 'gathered:fence:d');
    await proxy.pass();
    await Promise.all([...pipeline, note, fence]);
    granted(await second);
    expect((await backend.release(first)).freed).toBe(true);
  });

  test('who waits goes on listening over a client that is told to leave a silent server', async () => {
    const told = { socket: { host: '127.0.0.1', port: server.port, socketTimeout: 500 } };
    await using fleet = new Fleet(clients(server.port, {}, told));
    const client = (await fleet.client('node-redis')) as ReturnType<typeof createClient>;
    await using _mail = await Mail.of(fleet.over(client), wish('quiet'));
    await until('the connection that listens is older than that', async () => {
      await client.ping(); // the client itself is in use
      return /age=[2-9]/.test(await askRedis(server.port, 'CLIENT LIST TYPE pubsub'));
    });
  });

  test('a cache of the client, which the listening connection would share, is not emptied when that ends', async () => {
    const clientSideCache = new BasicClientSideCache();
    await using fleet = new Fleet(clients(server.port, {}, { RESP: 3, clientSideCache }));
    const client = (await fleet.client('node-redis')) as ReturnType<typeof createClient>;
    await client.get('cached');
    const backend = redis(client);
    await Mail.of(backend, wish('cached'));
    await backend.close();
    expect(clientSideCache.size()).toBe(1);
  });

  // What the libraries can be told to make of replies.
  const typeMapping = {
    [RESP_TYPES.BLOB_STRING]: Buffer,
    [RESP_TYPES.SIMPLE_STRING]: Buffer,
    [RESP_TYPES.NUMBER]: String,
    [RESP_TYPES.MAP]: Map,
  };
  for (const library of LIBRARIES) {
    test(`${library}: numbers as text, text as buffers, and commands it gathers by itself are all the same`, async () => {
      const ours = { protocol: 3, replyMapping: 'resp3', stringNumbers: true, enableAutoPipelining: true } as const;
      await using fleet = new Fleet(clients(server.port, ours, { commandOptions: { typeMapping } }));
      const backend = await fleet.backend(library, { prefix: `mapped:${library}` });
      const claims = Array.from({ length: 8 }, (_, i) => wish(`${i}`));
      const tokens = (await Promise.all(claims.map((claim) => backend.attempt(claim)))).map((it) => granted(it).token);
      expect(await keysSeen(backend)).toHaveLength(8);
      const next = wish('0');
      await using mail = await Mail.of(backend, next);
      expect((await backend.attempt(next)).granted).toBe(false);
      expect(await backend.renew(claims)).toEqual(claims.map(({ ttl }) => ({ validFor: ttl })));
      expect((await backend.release(claims[0]!)).freed).toBe(true);
      expect((await mail.next())!.token).toBeGreaterThan(tokens[0]!);
      await askRedis(server.port, 'CONFIG SET maxmemory 1');
      const passed = await backend.release(wish('none'), wish('none'));
      await askRedis(server.port, 'CONFIG SET maxmemory 0');
      expect(passed, 'a release whose next claim finds no memory').toEqual({ freed: false, next: undefined });
      await askRedis(server.port, 'CONFIG SET min-replicas-to-write 1');
      await askRedis(server.port, 'CONFIG SET min-replicas-max-lag 60');
      const found = (await backend.check!()).map(({ code }) => code);
      await askRedis(server.port, 'CONFIG SET min-replicas-to-write 0');
      expect(found).toContain('replica-lag');
      expect(await backend.incarnation!()).toMatchObject({ id: expect.stringMatching(/^\w{40}$/) });
    });
  }
});
