import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcd } from '../../../src/backends/etcd/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { startEtcd } from '../../kit/etcd.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { claimOf, endpoint, keys } from './etcdctl.ts';

/** ms. */
const TTL = 1_000;

describeOn('etcd', 'what was given up while nothing was answered', () => {
  let server: Server;
  let proxy: FaultProxy;
  let backend: Backend;
  beforeAll(async () => {
    server = await startEtcd();
    proxy = await startProxy(server.port);
    backend = etcd({ endpoints: endpoint(proxy), timeout: 300 });
  });
  afterAll(async () => {
    await backend?.close();
    await proxy?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const standing = async (key: string): Promise<number> =>
    (await keys([server])).filter((name) => name.startsWith(`holdfast/${key}/`)).length;

  test.for([
    ['up', 'requests are lost'],
    ['down', 'requests arrive'],
  ] as const)('is not kept by the leases of later holds (%s: %s)', async ([direction]) => {
    const [held, tried] = [claimOf(`held ${direction}`, { ttl: TTL }), claimOf(`tried ${direction}`, { ttl: TTL })];
    await backend.attempt(held);
    proxy.blackhole(direction);
    await expect(backend.attempt(tried)).rejects.toThrow();
    for (const claim of [held, tried]) await expect(backend.release(claim)).rejects.toThrow();
    await proxy.pass();
    // Others with the same ttl, one after the other, renewed: they take the leases that were given back.
    const began = performance.now();
    while (performance.now() - began < 2 * TTL) {
      const next = claimOf(`next ${direction}`, { ttl: TTL });
      await backend.attempt(next);
      expect(await backend.renew([next])).toEqual([{ validFor: expect.any(Number) }]);
      await backend.release(next);
    }
    for (const { key } of [held, tried]) {
      await until(`${key} is free`, async () => (await standing(encodeURIComponent(key))) === 0, 2 * TTL);
    }
  });
});
