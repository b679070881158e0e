import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { openBackend } from '../../src/connect/open.ts';
import { HOST } from '../kit/net.ts';
import { startRedisNodes } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';

describeOn('redis', 'redlock+redis:, closed as soon as it is open', () => {
  test('no node has a connection afterwards, also one that was still connecting', async () => {
    await using nodes = await startRedisNodes(5);
    const url = `redlock+redis://${nodes.servers.map(({ port }) => `${HOST}:${port}`).join(',')}`;
    for (let round = 0; round < 40; round++) await (await openBackend(url)).close();
    for (const { port } of nodes.servers) {
      const client = new Redis(port, HOST);
      const connections = async () =>
        String(await client.client('LIST'))
          .trim()
          .split('\n').length;
      try {
        await until('only the connection of the test is left', async () => (await connections()) === 1, 3_000);
        expect(await connections()).toBe(1);
      } finally {
        client.disconnect();
      }
    }
  });
});
