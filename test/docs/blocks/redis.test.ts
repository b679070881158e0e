/** Blocks that name Redis, on a real one. */
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { InMemoryMetricExporter, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { Redis } from 'ioredis';
import { Mutex } from 'redis-semaphore';
import Redlock from 'redlock';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createStock, redisStock } from '../../../products/stock/index.ts';
import { redis } from '../../../src/backends/redis/index.ts';
import { redisson } from '../../../src/backends/redisson/index.ts';
import type { Locks } from '../../../src/index.ts';
import { startProxy } from '../../kit/proxy.ts';
import { startRedis, startRedisCluster, startRedisNodes, startRedisSentinel } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { example, found, together } from '../block.ts';
import { closeAll, createLocks } from '../tracked.ts';
import { criticalSection, expectOneAtATime } from './exclusive.ts';

describeOn('redis', 'blocks on one redis', () => {
  let server: Server;
  let client: Redis;
  let locks: Locks;
  beforeAll(async () => {
    server = await startRedis();
  });
  beforeEach(async () => {
    client = new Redis(server.port, server.host);
    await client.flushall();
    locks = createLocks(redis(client));
  });
  afterEach(async () => {
    await closeAll();
    client.disconnect();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('redis: four processes are inside one after the other', async () => {
    await expectOneAtATime(
      found('docs/backends/redis.md', 'In one minute'),
      { 'new Redis()': `new Redis(${server.port})` },
      '// one at a time, across all processes that use this server; lease.token grows with every turn',
    );
  });

  test('redis-plain: four processes are inside one after the other', async () => {
    await expectOneAtATime(
      found('docs/backends/redis-plain.md', 'In one minute'),
      { 'new Redis()': `new Redis(${server.port})` },
      '// nobody else holds the key mutex:order:42, whatever language it is written in',
    );
  });

  test('redisson: four processes are inside one after the other', async () => {
    await expectOneAtATime(
      found('docs/backends/redisson.md', 'In one minute'),
      { 'new Redis()': `new Redis(${server.port})` },
      '// no Java program is inside redisson.getLock("order:42").lock() now, and no other process of ours',
    );
  });

  test('java-and-node: the lock and the token are those of an RFencedLock', async () => {
    const told: unknown[] = [];
    const writeOrder = (...args: unknown[]) => told.push(args);
    const own = await example('docs/guides/java-and-node.md', 'In Node.js')({ client, writeOrder });
    await own.give(42, 'Li');
    expect(told).toEqual([[42, 'Li', 1n]]);
    expect(await client.get('redisson_lock_token:{order:42}')).toBe('1');
    await own.locks.close();
  });

  test.each([
    ['README.md', () => example('README.md', 'On your engine')({ client })],
    [
      'the tutorial',
      () => example('docs/start-2.md', '5. Move to Redis')({}, { 'redis://127.0.0.1:6399': server.url }),
    ],
    ['frameworks', () => example('docs/guides/frameworks.md', 'The engine')({}, { 'redis://127.0.0.1': server.url })],
  ])('%s: the locks on Redis', async (_page, made) => {
    const own = await made();
    await own.locks.mutex('order:42').run(async () => {
      expect(await locks.mutex('order:42').tryAcquire()).toBeNull();
    });
    await own.locks.close();
    own.client?.disconnect(); // a page may take the reader's
  });

  test('questions: locks and idle keys take as much memory as the page says', async () => {
    const page = readFileSync(new URL('../../../docs/troubleshooting.md', import.meta.url), 'utf8');
    const said = [/a held mutex takes about (\d+) bytes/, /an idle key about (\d+) bytes/].map((text) =>
      Number(text.exec(page)![1]),
    );
    const count = 10_000;
    const used = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))![1]);
    await locks.mutex('before').run(async () => {}); // the scripts are there
    const before = await used();
    const leases = await Promise.all(Array.from({ length: count }, (_, i) => locks.mutex(`order:${i}`).acquire()));
    const held = ((await used()) - before) / count;
    await Promise.all(leases.map((lease) => lease.release()));
    const idle = ((await used()) - before) / count;
    const off = [held, idle].map((is, i) => Math.abs(is / said[i]! - 1));
    expect(Math.max(...off), `${held} and ${idle} bytes`).toBeLessThan(0.2);
  });

  test('moving: locks with the options of before', async () => {
    const made = await example('docs/comparison.md', 'Moving from `redlock`')({ client });
    await using _ = await made.locks.mutex('key').acquire();
    expect(await locks.mutex('key').tryAcquire()).toBeNull();
  });

  test('moving: who takes both keeps out the old code, and the new', async () => {
    const redlock = new Redlock([client as never], { retryCount: 200, retryDelay: 10 }) as unknown as {
      using(keys: string[], ttl: number, work: () => Promise<void>): Promise<void>;
    };
    const { both } = await example('docs/comparison.md', 'Both at once')({ redlock, locks });
    const section = criticalSection();
    const enter = () => section.enter();
    await Promise.all([both('key', enter), redlock.using(['key'], 30_000, enter), both('key', enter)]);
    await Promise.all([both('key', enter), locks.mutex('key').run(enter)]);
    section.expectOrderly(0);
  });

  test.each([
    [
      'those of redis-semaphore',
      {},
      (work: () => Promise<unknown>) => {
        const mutex = new Mutex(client, 'order:42', { lockTimeout: 5_000, acquireTimeout: 20_000 });
        return mutex.acquire().then(() => work().finally(() => mutex.release()));
      },
    ],
    [
      'those of Redisson',
      {
        'plainRedis(client, { key: (name) => `mutex:${name}` })': 'redisson(client)',
        "{ plainRedis } from 'holdfast/redis-plain'": "{ redisson } from 'holdfast/redisson'",
      },
      // What Java does on the same keys: test/backends/redisson/peers.test.ts shows that it keeps this engine out, and is kept out.
      (work: () => Promise<unknown>) => createLocks(redisson(client)).mutex('order:42').run(work),
    ],
  ])('moving: three deployments on the old keys first, %s, each beside the one before, and tokens grow', async (_title, instead, before) => {
    const page = example('docs/comparison.md', 'On the old keys first');
    const { old, own, first, second, third } = await page({ client }, instead);
    await using _ = old as Locks;
    await using __ = own as Locks;
    const section = criticalSection();
    const tokens: bigint[] = [];
    const work = (_signal: AbortSignal, token: bigint) => {
      tokens.push(token);
      return section.enter();
    };
    const all: (() => Promise<unknown>)[] = [
      () => before(() => section.enter()),
      ...[first, second, third].map((step) => () => step('order:42', work)),
    ];
    for (let i = 1; i < all.length; i++) {
      const [earlier, later] = [all[i - 1]!, all[i]!];
      await Promise.all([later(), earlier(), later(), later()]);
    }
    section.expectOrderly(0);
    expect(tokens).toEqual(tokens.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(new Set(tokens).size).toBe(tokens.length);
    expect(() => own.all([old.mutex('a'), 'b'])).toThrow('that other Locks made');
  });

  test('operating: what endangers locks is told, with what to do', async () => {
    const warn = vi.fn();
    await example('docs/production.md', 'Checking the server')({ locks, log: { warn } });
    const told = warn.mock.calls.map(([{ code }, text]) => [code, /\. To do: ./.test(text)]);
    expect(told.length).toBeGreaterThan(0);
    expect(told.every(([, advises]) => advises)).toBe(true);
  });

  test('operating: at the start it goes on trying, and says why, until the server is there', async () => {
    await using proxy = await startProxy(server.port);
    proxy.refuse();
    const warn = vi.fn(() => void proxy.pass());
    const { signal } = new AbortController();
    const opened = await example('docs/production.md', 'Starting before the engine')(
      { signal, console: { warn } },
      { 'redis://locks.example': `redis://127.0.0.1:${proxy.port}` },
    );
    await using connected = opened.locks as Locks;
    expect(warn.mock.calls[0]).toEqual([expect.stringMatching(/could not connect to .*\. Trying again$/)]);
    await connected.mutex('there').run(() => {});
  });

  test('a blocked loop: what is opened with a thread keeps a hold', async () => {
    const opened = await example('docs/guides/advanced.md', 'A blocked event loop')(
      {},
      { 'redis://127.0.0.1': `redis://127.0.0.1:${server.port}` },
    );
    await using connected = opened.locks as Locks;
    await connected.mutex('kept').run(({ held }: { held: boolean }) => expect(held).toBe(true));
  });

  test('releasing: what nobody waits for arrives, and what lingers passes on', async () => {
    await example('docs/guides/advanced.md', 'Not waiting for the release')({ locks });
    await example('docs/guides/advanced.md', 'Keeping a hold for the next caller here')({ locks });
    for (const key of ['order:42', 'session:7']) {
      await using lease = await locks.mutex(key).acquire({ wait: '5s' });
      expect(lease.held, key).toBe(true);
    }
  });

  test('operating: going down closes the locks, and then the client', async () => {
    const process = new EventEmitter();
    await example('docs/production.md', 'Going down')({ process, locks, client });
    const waits = locks.mutex('key').run(() => {});
    await waits;
    const ended = once(client, 'end');
    process.emit('SIGTERM');
    await ended;
    await expect(locks.mutex('key').acquire()).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  });

  test('selling: what is paid is sold', async () => {
    const [pay, show] = [vi.fn(), vi.fn()];
    const { phones } = await example(
      'docs/guides/selling-without-overselling.md',
      'Selling without overselling, and one hot key',
    )({ client, pay, show });
    expect([pay.mock.calls.length, show.mock.calls.length]).toEqual([1, 0]);
    expect((await phones.audit()).sold).toBe(1);
  });

  test('selling: a payment that fails is told, and its units can be sold to others', async () => {
    const pay = async (): Promise<void> => {
      throw new Error('the card was refused');
    };
    const sale = example(
      'docs/guides/selling-without-overselling.md',
      'Selling without overselling, and one hot key',
    )({ client, pay });
    await expect(sale).rejects.toThrow('the card was refused');
    const phones = await createStock(redisStock(client), { locks }).open('phone');
    expect(await phones.audit()).toMatchObject({ reserved: 0, sold: 0 });
  });

  test('telemetry: waits and holds are measured', async () => {
    const exporter = new InMemoryMetricExporter(1);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 600_000 });
    const { start } = await example('docs/guides/telemetry.md', 'Set it up')({}, { 'redis://127.0.0.1': server.url });
    const made = await start([reader]);
    await made.locks.mutex('order:42').run(() => {});
    await reader.forceFlush();
    const names = exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) =>
        scopeMetrics.flatMap(({ metrics }) => metrics.map(({ descriptor }) => descriptor.name)),
      );
    expect(names.join(' ')).toMatch(/wait.*duration/);
    expect(names.join(' ')).toMatch(/hold.*duration/);
    await made.locks.close();
    await reader.shutdown();
  });

  test('replicas: a server that has none is said to endanger the promise', async () => {
    const log = vi.fn();
    const made = await example('docs/backends/redis.md', 'Replicas')({ client, createLocks });
    await expect(made.locks.mutex('key').acquire({ wait: '200ms' })).rejects.toThrow();
    await example('docs/backends/redis.md', 'Replicas', 2)({ locks: made.locks, log });
    expect(log.mock.calls.map(([severity]) => severity)).toContain('danger');
    await made.locks.close();
  });
});

/** What the block made twice keeps each other out. */
async function expectExclusion(results: Awaited<ReturnType<typeof together>>): Promise<void> {
  const [one, other] = results.map(
    (result) => (result as PromiseFulfilledResult<{ locks: Locks; client: Redis }>).value,
  );
  const lease = await one!.locks.mutex('key').acquire();
  expect(await other!.locks.mutex('key').tryAcquire()).toBeNull();
  await lease.release();
  await closeAll();
  for (const { client } of [one!, other!]) {
    client.removeAllListeners('end'); // by which the block's client connects again
    client.disconnect();
  }
}

describeOn('redis', 'blocks on several redis', () => {
  test('redlock: four processes are inside one after the other', async () => {
    await using nodes = await startRedisNodes(3);
    const ports = nodes.servers.map(({ port }) => port);
    const made = await expectOneAtATime(
      found('docs/backends/redlock.md', 'In one minute'),
      {
        "['redis-1', 'redis-2', 'redis-3'].map((host) => new Redis({ host }))": `[${ports}].map((port) => new Redis({ port }))`,
      },
      '// held on more than half of the servers; lease.token grows with every turn',
    );
    await closeAll();
    for (const { clients } of made as { clients: Redis[] }[]) for (const client of clients) client.disconnect();
  });

  test('sentinel: the client finds the primary, and two exclude each other', async () => {
    await using group = await startRedisSentinel();
    const sentinels = group.sentinels.map(({ host, port }) => ({ host, port }));
    const block = found('docs/backends/redis.md', 'Sentinels');
    const hosts = /\[\{ host: .*\}\]/.exec(block.code)![0];
    const results = await together(block, [{}, {}], { [hosts]: JSON.stringify(sentinels) });
    await expectExclusion(results);
  }, 60_000);

  test('cluster: two exclude each other', async () => {
    await using cluster = await startRedisCluster();
    const [first, second] = cluster.servers;
    const results = await together(found('docs/backends/redis.md', 'Cluster'), [{}, {}], {
      "'10.0.0.1', port: 6379": `'${first!.host}', port: ${first!.port}`,
      "'10.0.0.2', port: 6379": `'${second!.host}', port: ${second!.port}`,
    });
    await expectExclusion(results);
  }, 60_000);

  test('replicas: a grant is there when as many replicas have it', async () => {
    await using group = await startRedisSentinel();
    const client = new Redis(await group.primary(), '127.0.0.1');
    const made = await example('docs/backends/redis.md', 'Replicas')({ client, createLocks }, { "'50ms'": "'1s'" });
    await using lease = await made.locks.mutex('key').acquire({ wait: '10s' });
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
    await closeAll();
    client.disconnect();
  }, 60_000);
});
