import { createClient } from 'redis';
import { expect, test } from 'vitest';
import { redis } from '../../../src/backends/redis/index.ts';
import { createLocks } from '../../../src/index.ts';
import { startRedis } from '../../kit/redis.ts';
import { describeOn } from '../../kit/suite.ts';

describeOn('redis', 'a client of node-redis to whose errors nobody listens', () => {
  test('ends no process when its server dies, and locks go on when that is back', async () => {
    await using server = await startRedis();
    const client = await createClient({ url: server.url }).connect();
    await using locks = createLocks(redis(client));
    await (await locks.mutex('key').acquire()).release();
    await server.restart(); // an error without a listener would fail the run
    await using lease = await locks.mutex('key').acquire({ wait: '10s' });
    expect(lease.held).toBe(true);
    for (let i = 0; i < 20; i++) redis(client);
    expect(client.listenerCount('error'), 'one is enough').toBe(1);
    await lease.release();
    await locks.close();
    client.destroy();
  });
});
