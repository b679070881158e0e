import { afterAll, beforeAll, expect, test } from 'vitest';
import { redis } from '../../../src/backends/redis/index.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { createLocks } from '../../../src/index.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import { startRedis } from '../../kit/redis.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { Fleet } from './fleet.ts';

const CYCLES = 200;

describeOn('redis', 'busy polling on redis', () => {
  let server: Server;
  let proxy: FaultProxy;

  beforeAll(async () => {
    server = await startRedis();
    proxy = await startProxy(server.port);
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** Turns that a lone caller asks of the event loop, in as many cycles, once it has run for a while. */
  async function turnsOf(port: number): Promise<number> {
    await using fleet = new Fleet(port);
    let turns = 0;
    const turn = (fn: () => void): void => {
      turns++;
      systemClock.turn!(fn);
    };
    await using locks = createLocks(redis(fleet.ioredis()), { clock: { ...systemClock, turn }, busyPoll: true });
    const mutex = locks.mutex('polled-for');
    const cycle = async (): Promise<void> => void (await (await mutex.acquire()).release());
    for (let i = 0; i < CYCLES; i++) await cycle();
    turns = 0;
    for (let i = 0; i < CYCLES; i++) await cycle();
    return turns;
  }

  test('a server that is far away is hardly ever polled for', async () => {
    proxy.delay(1);
    // For two or three calls of 400, for 0.25 ms each.
    expect(await turnsOf(proxy.port)).toBeLessThan(5 * CYCLES);
  });

  test('the event loop turns while a server nearby answers', async () => {
    let turns = 0;
    // Beside other tests no answer may come in time for a while.
    for (let tries = 0; tries < 20 && turns <= 5 * CYCLES; tries++) turns = await turnsOf(server.port);
    expect(turns).toBeGreaterThan(5 * CYCLES);
  });
});
