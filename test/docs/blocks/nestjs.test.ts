/** Blocks of Nest, in its container, with the decorators that its projects have. */
import 'reflect-metadata';
import { Module, type Type } from '@nestjs/common';
import { HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Locks, LocksHealthIndicator, LocksModule } from '../../../src/nestjs/index.ts';
import { startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { started } from '../../nestjs/application.ts';
import { type Found, found, moduleOf } from '../block.ts';
import { criticalSection } from './exclusive.ts';

type Names = Record<string, unknown>;

/** The class that the block makes. What TypeScript notes of its constructor is said here, since no TypeScript compiles it. */
async function classOf(block: Found, name: string, given: Names = {}, instead = {}, needs: readonly unknown[] = []) {
  const file = await moduleOf(block, Object.keys(given), instead, { experimentalDecorators: true });
  const made = (await (await import(file)).default(given))[name] as Type;
  if (needs.length > 0) Reflect.defineMetadata('design:paramtypes', needs, made);
  return made;
}

describeOn('redis', 'blocks of nest', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const withLocks = (...providers: Type[]) => ({
    imports: [LocksModule.forRoot({ url: server.url })],
    providers,
  });
  const excludes = async (one: Locks, other: Locks): Promise<void> => {
    await using _ = await one.mutex('key').acquire();
    expect(await other.mutex('key').tryAcquire()).toBeNull();
  };

  test('nestjs: locks at an address, and locks over a client of the application, exclude each other', async () => {
    const AtAddress = await classOf(
      found('docs/guides/nestjs.md', 'NestJS'),
      'AppModule',
      {},
      {
        'redis://127.0.0.1': server.url,
      },
    );
    const OverClient = await classOf(
      found('docs/guides/nestjs.md', 'NestJS', 2),
      'AppModule',
      {},
      {
        'new Redis()': `new Redis(${server.port})`,
      },
    );
    const one = await started({ imports: [AtAddress] });
    const other = await started({ imports: [OverClient] });
    await excludes(one.app.get(Locks), other.app.get(Locks));
    const client = other.app.get(Redis, { strict: false });
    await one[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
    client.disconnect();
  });

  test('nestjs: a method with @Locked and one that takes the lock by itself are inside one after the other', async () => {
    const section = criticalSection();
    const writeOrder = (_id: number, _driver: string, token: bigint) => section.enter({ token });
    const block = found('docs/guides/nestjs.md', 'Locks, `@Locked`');
    const Orders = await classOf(block, 'Orders', { writeOrder }, {}, [Locks]);
    await using one = await started(withLocks(Orders));
    await using other = await started(withLocks(Orders));
    const orders = [one, other].map(({ app }) => app.get(Orders));
    await Promise.all(orders.flatMap((each) => [each.grab(42, 'li'), each.refund(42)]));
    section.expectOrderly(4);
  });

  test('nestjs: of two instances one follows the feed, and the other when that one is closed', async () => {
    const tokens: bigint[] = [];
    const given = {
      next: (signal: AbortSignal) =>
        new Promise((resolve) => {
          setTimeout(resolve, 5);
          signal.addEventListener('abort', resolve, { once: true });
        }),
      store: { write: async (_message: unknown, token: bigint) => void tokens.push(token) },
    };
    const Feed = await classOf(found('docs/guides/nestjs.md', '`@Leading`'), 'Feed', given);
    const apps = [await started(withLocks(Feed)), await started(withLocks(Feed))];
    await until('one writes', () => tokens.length > 3);
    const leader = await apps[0]!.app.get(Locks).leader('feed').current();
    expect(new Set(tokens)).toEqual(new Set([leader!.token]));
    await apps[0]!.app.close();
    const before = tokens.length;
    await until('the other one writes', () => tokens.length > before + 3);
    await apps[1]!.app.close();
    expect(tokens.every((token, i) => i === 0 || token >= tokens[i - 1]!)).toBe(true);
  });

  test('nestjs: of two instances one runs each tick', async () => {
    const ticks: number[] = [];
    const report = async (tick: Date): Promise<void> => void ticks.push(tick.getTime());
    const block = found('docs/guides/nestjs.md', '`@OnceCron`');
    const instead = { "'0 3 * * *'": "'* * * * * *'", 'redis://127.0.0.1': server.url };
    const modules = [1, 2].map(() => classOf(block, 'AppModule', { report }, instead));
    const apps = await Promise.all((await Promise.all(modules)).map((each) => started({ imports: [each] })));
    await until('two ticks are run', () => ticks.length >= 2);
    for (const { app } of apps) await app.close();
    expect(new Set(ticks).size).toBe(ticks.length);
  });

  test('nestjs: the probe says that the engine answers', async () => {
    const block = found('docs/guides/nestjs.md', 'Health');
    const Health = await classOf(block, 'Health', {}, {}, [HealthCheckService, LocksHealthIndicator]);
    class Root {}
    Module({ imports: [TerminusModule], controllers: [Health] })(Root);
    await using one = await started({ imports: [LocksModule.forRoot({ url: server.url }), Root] });
    expect(await one.app.get(Health, { strict: false }).check()).toMatchObject({
      status: 'ok',
      details: { locks: {} },
    });
  });
});
