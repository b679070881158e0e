import { afterEach, beforeEach, expect, test } from 'vitest';
import { redlock } from '../../../src/backends/redlock/index.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import { startRedisNodes } from '../../kit/redis.ts';
import type { Servers } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { Fleet } from '../redis/fleet.ts';

/** Of a call that is to be refused, ms. */
const SHORT = 500;

describeOn('redis', 'redlock, when one of three new nodes hangs at their very first start', () => {
  let started: number;
  let nodes: Servers;
  let stack: AsyncDisposableStack;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    started = performance.now();
    nodes = stack.use(await startRedisNodes(3));
    nodes.servers[2]!.pause();
    stack.defer(() => nodes.servers[2]!.resume());
  });
  afterEach(() => stack.disposeAsync());

  function open(maxTtl?: number): Locks {
    const clients = nodes.servers.map(({ port }) => stack.use(new Fleet(port)).ioredis());
    return stack.use(createLocks(redlock(clients, maxTtl === undefined ? {} : { maxTtl })));
  }
  const refused = async (locks: Locks): Promise<string> => {
    const error = await locks
      .mutex('first')
      .acquire({ wait: SHORT })
      .catch((refusal: unknown) => refusal);
    expect(error, 'of a call while it hangs').toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    return (error as Error).message;
  };

  test('nobody gets a lock, the error says why and for how long, and all do once it answers', async () => {
    const locks = open();
    const message = await refused(locks);
    expect(message).toMatch(
      /node 1 \(redis\): is new, or has lost its data: .* known when every node has answered once/,
    );
    const [, rest, end] = /for another (\d+) ms, until (\S+Z)/.exec(message) ?? [];
    expect(Number(rest), 'ms of the default maxTtl that are left').toBeGreaterThan(50_000);
    expect(Number(rest), 'ms of the default maxTtl that are left').toBeLessThanOrEqual(71_000);
    expect(Math.abs(Date.parse(end!) - Date.now() - Number(rest)), 'ms between both').toBeLessThan(5_000);
    expect(message).toMatch(/node 3 \(redis\): is silent/);
    const unavailable = (await locks.check()).filter(({ code }) => code === 'node-unavailable');
    expect(unavailable.map(({ message }) => message)).toEqual([expect.stringContaining('node 3')]);
    const waiting = locks.mutex('first').acquire({ wait: '10s' });
    nodes.servers[2]!.resume();
    const lease = await waiting;
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
  });

  test('and it goes on hanging, the others count as soon as they are maxTtl old', async () => {
    const maxTtl = 3_000;
    const locks = open(maxTtl);
    expect(await refused(locks)).toMatch('is new, or has lost its data');
    await (await locks.mutex('first').acquire({ wait: '15s', ttl: 1_000 })).release();
    expect(performance.now() - started, 'ms from their start').toBeGreaterThanOrEqual(maxTtl);
  });
});
