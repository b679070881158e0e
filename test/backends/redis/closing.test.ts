import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { portOf } from '../../../src/backends/redis/client.ts';
import { redis } from '../../../src/backends/redis/index.ts';
import { askRedis, startRedis } from '../../kit/redis.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { Fleet, LIBRARIES } from './fleet.ts';
import { Mail, wish } from './scene.ts';

describeOn('redis', 'redis, closed at any moment', () => {
  for (const library of LIBRARIES) {
    test(`${library}: of its own connections, also those in the making, none is left`, async () => {
      await using server = await startRedis();
      await using fleet = new Fleet(server.port);
      const { client } = await fleet.open(library);
      await fleet.over(client).release(wish('a first contact'));
      for (let i = 0; i < 150; i++) {
        const backend = redis(client, i % 3 === 0 ? { replicas: { acknowledge: 1, within: 5 } } : {});
        const listening = Mail.of(backend, wish('waiting')).catch(() => {});
        const asking = backend.attempt(wish(`${i}`, { queue: false, ttl: 50 })).catch(() => {});
        const end = performance.now() + (i % 50) / 12;
        while (performance.now() < end) await turn();
        await backend.close();
        await Promise.all([listening, asking]);
      }
      const connected = async (): Promise<number> =>
        Number(/connected_clients:(\d+)/.exec(await askRedis(server.port, 'INFO clients'))![1]);
      await until('only the client is connected, and who asks', async () => (await connected()) === 2);
    });

    test(`${library}: a connection of its own that is no longer wanted when it should be opened is not opened`, async () => {
      await using server = await startRedis();
      await using fleet = new Fleet(server.port);
      const { client } = await fleet.open(library);
      const opening = portOf(client).ownConnection(0, AbortSignal.abort(new Error('closed')), () => {});
      await expect(opening).rejects.toThrow('closed');
      expect(await askRedis(server.port, 'INFO stats')).toMatch(/total_connections_received:[1-3]\r/);
    });

    test(`${library}: many backends over one client are no leak to Node, and leave no listener`, async () => {
      await using server = await startRedis();
      await using fleet = new Fleet(server.port);
      const { client } = await fleet.open(library);
      const emitter = client as unknown as EventEmitter;
      const before = emitter.listenerCount('connect');
      const backends = Array.from({ length: EventEmitter.defaultMaxListeners + 1 }, () => fleet.over(client));
      for (const backend of backends) {
        await using _ = await Mail.of(backend, wish('waiting'));
        await backend.incarnation!();
      }
      expect(emitter.listenerCount('connect'), 'Node warns of more').toBeLessThan(EventEmitter.defaultMaxListeners);
      for (const backend of backends) await backend.close();
      expect(emitter.listenerCount('connect')).toBe(before);
    });
  }
});
