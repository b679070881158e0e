import { afterAll, beforeAll } from 'vitest';
import { etcd } from '../../../src/backends/etcd/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { startEtcdMembers } from '../../kit/etcd.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import type { Servers } from '../../kit/server.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';

// A lease is looked at every half second, and ends by a write like any other.
const timing = { ttl: 1_000, tolerance: 1_200 };

for (const members of [1, 3]) {
  describeOn('etcd', `etcd, ${members === 1 ? 'one member' : `${members} members`}`, () => {
    let cluster: Servers;
    const proxies = new Map<Backend, FaultProxy>();
    const proxyOf = (client: Backend): FaultProxy => proxies.get(client)!;

    beforeAll(async () => {
      cluster = await startEtcdMembers(members);
    });
    afterAll(async () => {
      for (const proxy of proxies.values()) await proxy[Symbol.asyncDispose]();
      await cluster?.[Symbol.asyncDispose]();
    });

    let turn = 0;
    const open = async (prefix?: string): Promise<Backend> => {
      const proxy = await startProxy(cluster.servers[turn++ % members]!.port);
      const backend = etcd({ endpoints: `127.0.0.1:${proxy.port}`, prefix });
      proxies.set(backend, proxy);
      return backend;
    };

    describeConformance({
      name: 'etcd',
      open: () => open(),
      apart: () => open('elsewhere'),
      timing,
      faults: {
        async die(client) {
          proxyOf(client).refuse();
          proxyOf(client).cut();
        },
        async stall(client) {
          proxyOf(client).stall('up');
          return () => proxyOf(client).pass();
        },
      },
    });
  });
}
