import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { redlock } from '../../../src/backends/redlock/index.ts';
import { connect } from '../../../src/connect/index.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import { askRedis, startRedisNodes } from '../../kit/redis.ts';
import type { Servers } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { Fleet } from '../redis/fleet.ts';

describeOn('redis', 'redlock over five Redis', () => {
  let nodes: Servers;
  let fleets: Fleet[];
  const opened: Locks[] = [];

  beforeEach(async () => {
    nodes = await startRedisNodes(5);
    fleets = nodes.servers.map(({ port }) => new Fleet(port));
  });
  afterEach(async () => {
    for (const server of nodes.servers) if (server.alive) server.resume();
    for (const locks of opened.splice(0)) await locks.close();
    for (const fleet of fleets) await fleet[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
  });

  function open(options?: Parameters<typeof redlock>[1]): Locks {
    const locks = createLocks(
      redlock(
        fleets.map((fleet) => fleet.ioredis()),
        options,
      ),
    );
    opened.push(locks);
    return locks;
  }

  /** Two processes take turns; tokens grow, nobody is in with another. */
  async function turns(one: Locks, two: Locks, count: number): Promise<void> {
    let inside = 0;
    let last = 0n;
    for (let i = 0; i < count; i++) {
      await Promise.all(
        [one, two].map((locks) =>
          locks.mutex('order').run(
            async ({ token }) => {
              expect(++inside, 'holders at once').toBe(1);
              expect(token, 'tokens').toBeGreaterThan(last);
              last = token;
              inside--;
            },
            { wait: 15_000, ttl: 3_000 },
          ),
        ),
      );
    }
  }

  test('to take a lock and give it back is two commands on each node, also where the majority did not wait for it', async () => {
    const locks = open();
    const scripts = async (): Promise<number[]> =>
      Promise.all(
        nodes.servers.map(async ({ port }) => {
          const stats = await askRedis(port, 'INFO commandstats');
          return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
        }),
      );
    const cycles = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) await (await locks.mutex('order').acquire()).release();
    };
    await cycles(10); // each server learns the scripts
    await Promise.all(nodes.servers.map(({ port }) => askRedis(port, 'CONFIG RESETSTAT')));
    await cycles(200);
    await until('the last ones have been heard', async () => Math.min(...(await scripts())) >= 400);
    // One of before may have come after the reset.
    expect(Math.max(...(await scripts())), `${await scripts()}`).toBeLessThanOrEqual(401);
  });

  test.each(['stopped', 'killed'] as const)('two of five %s while it is held and waited for', async (how) => {
    const [one, two] = [open(), open()];
    const held = await one.mutex('order').acquire({ ttl: 2_000 });
    const waiting = two.mutex('order').acquire({ wait: 15_000, ttl: 2_000 });
    for (const server of nodes.servers.slice(0, 2)) {
      if (how === 'stopped') server.pause();
      else await server.kill();
    }
    await new Promise((resolve) => setTimeout(resolve, 3_000)); // longer than the lease: it must be renewed meanwhile
    held.assertHeld();
    expect(await held.release()).toBe(true);
    const next = await waiting;
    expect(next.token).toBeGreaterThan(held.token);
    await next.release();
    await turns(one, two, 5);
    for (const server of nodes.servers.slice(0, 2)) {
      if (how === 'stopped') server.resume();
      else await server.restart();
    }
    await turns(one, two, 5);
  }, 60_000);

  test('three of five down is said within the wait, node by node, and a hold is lost before its deadline', async () => {
    const one = open();
    const held = await one.mutex('held').acquire({ ttl: 1_500 });
    const lost = new Promise((resolve) => held.signal.addEventListener('abort', resolve, { once: true }));
    for (const server of nodes.servers.slice(0, 3)) await server.kill();
    const asked = one
      .mutex('order')
      .acquire({ wait: 1_000 })
      .catch((thrown) => thrown);
    const error = await settleWithin('the end of the wait', asked, 3_000);
    expect(error).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(String(error.cause)).toMatch(/3 of 5 nodes cannot vote, and 3 votes are needed: node 1 \(redis\): /);
    await lost;
    expect(held.held, 'the loss is told while there is time to stop').toBe(true);
  });

  test('a node that restarts empty does not count for the longest lease, then does', async () => {
    const one = open({ maxTtl: 3_000 });
    await (await one.mutex('order').acquire({ ttl: 1_000 })).release();
    for (const server of nodes.servers.slice(3)) await server.kill();
    await nodes.servers[0]!.restart({ wipe: true });
    const refused = await one
      .mutex('order')
      .acquire({ wait: 1_000, ttl: 1_000 })
      .catch((thrown) => thrown);
    expect(refused).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(String(refused.cause)).toMatch(/restarted/);
    const lease = await one.mutex('order').acquire({ wait: 10_000, ttl: 1_000 });
    await lease.release();
  });

  test('a URL that names five connects while two are down', async () => {
    await (await open().mutex('order').acquire()).release(); // the nodes are not new
    for (const server of nodes.servers.slice(0, 2)) await server.kill();
    await using locks = await connect(nodes.url);
    await using lease = await locks.mutex('order').acquire({ wait: 5_000 });
    expect(lease.held).toBe(true);
  });

  test('several URLs are a quorum', async () => {
    await using locks = await connect([...nodes.servers.slice(0, 2).map(({ url }) => url), 'memory:']);
    await using lease = await locks.mutex('order').acquire({ wait: 5_000 });
    expect(lease.token).toBeGreaterThan(0n);
  });

  test('the same server twice is refused', async () => {
    const fleet = fleets[0]!;
    const twice = [fleet.ioredis(), fleet.ioredis(), fleets[1]!.ioredis()];
    const locks = createLocks(redlock(twice));
    opened.push(locks);
    await expect(locks.mutex('order').acquire({ wait: 5_000 })).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  });
});

test('fewer than three, one client twice, a Cluster and a bad option are refused at once', async () => {
  const client = (): Redis => new Redis({ lazyConnect: true });
  const one = client();
  const cluster = Object.assign(client(), { isCluster: true });
  for (const clients of [[], [one], [one, client()], [one, client(), one], [cluster, client(), client()]])
    expect(() => redlock(clients)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
  for (const options of [{ drift: 1 }, { maxTtl: 'never' }, { restartGuard: 'yes' }, { drfit: 0.1 }])
    expect(() => redlock([client(), client(), client()], options as object)).toThrow(
      expect.objectContaining({ code: 'LOCK_INVALID' }),
    );
  await expect(connect(['memory:'])).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  await expect(connect('redlock+redis://127.0.0.1:1,127.0.0.1:2')).rejects.toMatchObject({ code: 'LOCK_INVALID' });
});
