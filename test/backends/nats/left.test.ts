import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { connect as open } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { nats } from '../../../src/backends/nats/index.ts';
import { listOf } from '../../../src/core/contract/promises.ts';
import { createLocks } from '../../../src/index.ts';
import { startNats } from '../../kit/nats.ts';
import { describeOn } from '../../kit/suite.ts';

describeOn('nats', 'NATS', () => {
  test('waits and listings leave no consumer behind, of which a stream has about a thousand at most', async () => {
    await using server = await startNats();
    const connection = await open({ servers: `127.0.0.1:${server.port}` });
    const manager = await jetstreamManager(connection);
    const consumers = async (): Promise<number> => (await manager.streams.info('KV_locks')).state.consumer_count;
    const bucket = await new Kvm(connection).create('locks');
    const [holder, waiter] = [createLocks(nats(bucket)), createLocks(nats(bucket))];
    for (let time = 0; time < 5; time++) {
      const lease = await holder.mutex('k').acquire();
      const waits = waiter.mutex('k').acquire({ wait: '10s' });
      await expect.poll(consumers, { message: 'the waiter listens' }).toBe(1);
      expect((await listOf(holder.inspect())).map(({ key }) => key)).toContain('k');
      await lease.release();
      await (await waits).release();
      await expect.poll(consumers, { message: `after ${time + 1} waits` }).toBe(0);
    }
    for (const locks of [holder, waiter]) await locks.close();
    await connection.close();
  });
});
