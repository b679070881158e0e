import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/connect/index.ts';
import type { Locks } from '../../src/index.ts';
import { Monitor } from '../kit/monitor.ts';
import { startRedis } from '../kit/redis.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';

/** What a tick costs in commands, beside a memo of the same work. */
describeOn('redis', 'what a tick costs on Redis', () => {
  let server: Server;
  let watcher: Redis;
  let monitor: Monitor;
  let instances: readonly [Locks, Locks];

  beforeAll(async () => {
    server = await startRedis();
    watcher = new Redis(server.port, '127.0.0.1');
    monitor = await Monitor.start(server.port);
    instances = [await connect(server.url), await connect(server.url)];
    // The first use of a script is one command more.
    for (const each of ['once', 'retry', 'memo'] as const) await asked(`warm ${each}`, each);
  }, 60_000);
  afterAll(async () => {
    for (const locks of instances) await locks.close();
    watcher.disconnect();
    monitor[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  const WITHIN = '70s';
  const due = new Date();
  const WAYS = {
    once: (locks: Locks, name: string, fn: () => Promise<void>) => locks.once(name, due, fn, { within: WITHIN }),
    retry: (locks: Locks, name: string, fn: () => Promise<void>) =>
      locks.once(name, due, fn, { within: WITHIN, retry: true }),
    memo: (locks: Locks, name: string, fn: () => Promise<void>) => locks.memo(name, { keep: WITHIN }).run(fn),
  };

  /** How many commands they send. */
  async function counted(work: () => Promise<unknown>): Promise<number> {
    await monitor.commands();
    await work();
    const sent = await monitor.commands();
    return sent.filter((words) => words.some((word) => word.startsWith('holdfast:{'))).length;
  }

  /** The commands of a runner that is alone, of one that comes later, and of two at once; and the keys that stay. */
  async function asked(name: string, way: keyof typeof WAYS): Promise<Record<string, number>> {
    const [one, two] = instances;
    const fn = async (): Promise<void> => {};
    const runner = await counted(() => WAYS[way](one, name, fn));
    const later = await counted(() => WAYS[way](two, name, fn));
    const keys = (await watcher.keys(`holdfast:{${name}*`)).length;
    const together = (n: number): Promise<number> =>
      counted(async () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const running = instances.map((locks) => WAYS[way](locks, `${name} both ${n}`, () => promise));
        await setTimeout(200);
        resolve();
        await Promise.all(running);
      });
    // One that this machine lets come late may ask once more: the least of five.
    let both = Number.POSITIVE_INFINITY;
    for (let n = 0; n < 5; n++) both = Math.min(both, await together(n));
    return { runner, later, both, keys };
  }

  test.each([
    ['once', { runner: 2, later: 3, both: 5, keys: 1 }],
    ['retry', { runner: 5, later: 4, both: 9, keys: 2 }],
    ['memo', { runner: 3, later: 1, both: 6, keys: 2 }],
  ] as const)('%s: the commands, and the keys that stay', async (way, costs) => {
    expect(await asked(`cost ${way}`, way)).toEqual(costs);
  });
});
