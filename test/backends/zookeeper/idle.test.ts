import { afterAll, beforeAll, expect, test } from 'vitest';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { IDLE_LINES, IdleLine } from '../../kit/idle-line.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { startZookeeper } from '../../kit/zookeeper.ts';

/** Long enough that no sign of life of the connection itself is among what is counted. ms. */
const SESSION = 60_000;

describeOn('zookeeper', 'waiters on ZooKeeper with nothing to do', () => {
  let server: Server;
  let proxy: FaultProxy;
  let backend: Backend;
  beforeAll(async () => {
    server = await startZookeeper();
    proxy = await startProxy(server.port);
    backend = zookeeper({ servers: `${proxy.host}:${proxy.port}`, sessionTimeout: SESSION });
  }, 60_000);
  afterAll(async () => {
    await backend?.close();
    await proxy?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  test.for(IDLE_LINES)('cost the same each, however many %s stand in line', async (kind) => {
    await using few = await IdleLine.of(10, backend, proxy, kind, SESSION);
    await using many = await IdleLine.of(100, backend, proxy, kind, SESSION);
    const [one, of, another] = [await few.signsOfLife(), await many.signsOfLife(), await many.signsOfLife()];
    expect(of, 'bytes for each of a hundred').toBeLessThan(1.3 * one);
    expect(another, 'bytes for each of a hundred, again').toBeLessThan(1.3 * one);
  });
});
