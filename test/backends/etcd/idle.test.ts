import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcd } from '../../../src/backends/etcd/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { startEtcd } from '../../kit/etcd.ts';
import { IDLE_LINES, IdleLine } from '../../kit/idle-line.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';

/** Of a hold: a place has six seconds. ms. */
const TTL = 60_000;

describeOn('etcd', 'waiters on etcd with nothing to do', () => {
  let server: Server;
  let proxy: FaultProxy;
  let backend: Backend;
  beforeAll(async () => {
    server = await startEtcd();
    proxy = await startProxy(server.port);
    backend = etcd({ endpoints: `${proxy.host}:${proxy.port}` });
  }, 60_000);
  afterAll(async () => {
    await backend?.close();
    await proxy?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  test.for(IDLE_LINES)('cost the same each, however many %s stand in line', async (kind) => {
    await using few = await IdleLine.of(10, backend, proxy, kind, TTL);
    await using many = await IdleLine.of(100, backend, proxy, kind, TTL);
    const [one, of, another] = [await few.signsOfLife(), await many.signsOfLife(), await many.signsOfLife()];
    expect(of, 'bytes for each of a hundred').toBeLessThan(1.3 * one);
    expect(another, 'bytes for each of a hundred, again').toBeLessThan(1.3 * one);
  });
});
