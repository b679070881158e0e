import { expect, test } from 'vitest';
import { redlock } from '../../../src/backends/redlock/index.ts';
import { createLocks } from '../../../src/index.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import { startRedisNodes } from '../../kit/redis.ts';
import { describeOn } from '../../kit/suite.ts';
import { claim } from '../quorum/nodes.ts';
import { Fleet } from '../redis/fleet.ts';

/** How long an answer takes, ms: two rounds take longer than an attempt with a lease of 400 may, so core attempts again. */
const WAY = 130;

describeOn('redis', 'redlock, far away', () => {
  test('whoever attempted again is not inside when another gets in', async () => {
    await using nodes = await startRedisNodes(3);
    const ports = nodes.servers.map(({ port }) => port);
    await using proxies = new AsyncDisposableStack();
    const links: FaultProxy[] = [];
    for (const port of ports) links.push(proxies.use(await startProxy(port)));
    const fleetOf = (port: number): Fleet => proxies.use(new Fleet(port));
    const [near, far] = [ports.map(fleetOf), links.map(({ port }) => fleetOf(port))];
    await using one = createLocks(redlock(far.map((fleet) => fleet.ioredis())));
    await using two = createLocks(redlock(near.map((fleet) => fleet.ioredis())));
    for (const locks of [one, two]) await locks.mutex('warm').run(() => {});

    for (let turn = 0; turn < 3; turn++) {
      // Each node has given another number, so that a second round has to bring them to one.
      const key = `order:${turn}`;
      const now = BigInt(Date.now()) * 1_000n;
      for (const [i, fleet] of near.entries()) {
        const before = claim({ key, minToken: now + BigInt(i) * 1_000_000n });
        const node = await fleet.backend('ioredis');
        await node.attempt(before);
        await node.release(before);
        await node.close();
      }
      for (const link of links) link.delay(WAY, 'down');
      const lease = await one.mutex(key).acquire({ ttl: 400, renew: false });
      const next = await two.mutex(key).acquire({ wait: '10s' });
      expect(lease.held, 'the first, when the second is in').toBe(false);
      for (const link of links) link.pass();
      await next.release();
    }
  });
});
