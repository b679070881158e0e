import { afterEach, expect, test } from 'vitest';
import { redlock } from '../../../src/backends/redlock/index.ts';
import type { Duration } from '../../../src/index.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import { startRedisNodes } from '../../kit/redis.ts';
import type { Servers } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { Fleet } from '../redis/fleet.ts';

/** A second is the least that nodes remember, and about as exactly as they know when they started. ms. */
const LEASE = 1_000;
const APART = 2_500;

describeOn('redis', 'redlock, when its nodes start anew', () => {
  let nodes: Servers;
  let fleets: Fleet[];
  const opened: Locks[] = [];

  afterEach(async () => {
    for (const locks of opened.splice(0)) await locks.close();
    for (const fleet of fleets) await fleet[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
  });
  async function start(settings: Record<string, string>): Promise<void> {
    nodes = await startRedisNodes(3, settings);
    fleets = nodes.servers.map(({ port }) => new Fleet(port));
  }
  function open(maxTtl: Duration = '5m'): Locks {
    const clients = fleets.map((fleet) => fleet.ioredis());
    const locks = createLocks(redlock(clients, { maxTtl }));
    opened.push(locks);
    return locks;
  }
  const cycle = async (locks: Locks, wait: number): Promise<boolean> =>
    (await locks.mutex('order').acquire({ ttl: LEASE, wait })).release();

  test('a rolling restart of all, with their data and without, is never an outage, also for who comes later', async () => {
    await start({ appendonly: 'yes' });
    const locks = open();
    await cycle(locks, 5_000);
    let over = false;
    let longest = 0;
    const works = (async () => {
      while (!over) {
        const began = performance.now();
        await cycle(locks, APART);
        longest = Math.max(longest, performance.now() - began);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    works.catch(() => {}); // it is looked at below
    for (const [i, server] of nodes.servers.entries()) {
      await server.restart({ wipe: i === 1 });
      await Promise.race([works, new Promise((resolve) => setTimeout(resolve, APART))]);
      await cycle(open(), APART);
    }
    over = true;
    await works;
    expect(longest, 'the longest way to a lock, ms').toBeLessThan(APART);
  });

  test('nodes that are always synced count at once, of three that start anew at the same time', async () => {
    await start({ appendonly: 'yes', appendfsync: 'always' });
    const locks = open();
    await cycle(locks, 5_000);
    await (await locks.mutex('long').acquire({ ttl: '5m' })).release(); // whatever they would have to wait for
    await Promise.all(nodes.servers.map((server) => server.restart()));
    await cycle(locks, 5_000);
    await cycle(open(), 5_000);
  });

  test('two that forgot do not let a second holder in, of a process that started after it, either', async () => {
    await start({});
    const held = await open('5s').mutex('order').acquire({ ttl: 4_000, renew: false });
    for (const server of nodes.servers.slice(0, 2)) await server.restart({ wipe: true });
    const next = await open('5s').mutex('order').acquire({ wait: 15_000, ttl: LEASE });
    expect(held.held, 'the first, when the second is in').toBe(false);
    expect(next.token).toBeGreaterThan(held.token);
    await next.release();
  });
});
