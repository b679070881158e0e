import { type PlainRedisOptions, plainRedis } from '../../../src/backends/redis-plain/index.ts';
import type { Backend } from '../../../src/core/index.ts';
import { startRedis } from '../../kit/redis.ts';
import { Fleet, type Library, owning } from '../redis/fleet.ts';

/** A backend over a client of its own, as another process would have. It ends the client when it is closed. */
export async function plainOver(fleet: Fleet, library: Library, options?: PlainRedisOptions): Promise<Backend> {
  const opened = await fleet.open(library);
  return owning(plainRedis(opened.client, options), [opened]);
}

/** The middle one. */
export const half = (numbers: number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;

/**
 * What is soon on this machine now, ms: a waiter is in after three round trips, and each may take several turns of busy processes. It is far
 * less than the pause of those that poll, unless the machine is that busy.
 */
export async function soon(redis: { ping(): Promise<unknown> }): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < 21; i++) {
    const began = performance.now();
    await redis.ping();
    took.push(performance.now() - began);
  }
  return Math.max(25, 15 * half(took));
}

/** A server for the tests of a suite, and another program that is connected to it. */
export async function startPlainServer() {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await startRedis());
  const fleet = stack.use(new Fleet(server.port));
  return { server, fleet, redis: fleet.ioredis(), [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}
