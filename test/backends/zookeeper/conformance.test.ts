import { afterAll, beforeAll } from 'vitest';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { type FaultProxy, startProxy } from '../../kit/proxy.ts';
import type { Server, Servers } from '../../kit/server.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { startZookeeper, startZookeeperMembers } from '../../kit/zookeeper.ts';

/** A server that is silent for a third of it is given up. ms. */
const sessionTimeout = 4_000;
/** Sessions end in steps of a tick. */
const TICK = 200;

describeOn('zookeeper', 'one server', () => {
  let server: Server;
  const proxies = new Map<Backend, FaultProxy>();
  beforeAll(async () => {
    server = await startZookeeper({ tickTime: `${TICK}` });
  }, 60_000);
  afterAll(async () => {
    for (const proxy of proxies.values()) await proxy[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const open = (prefix: string) => async () => {
    const proxy = await startProxy(server.port);
    const client = zookeeper({ servers: `${proxy.host}:${proxy.port}`, sessionTimeout, prefix });
    proxies.set(client, proxy);
    return client;
  };
  const faults = {
    async die(client: Backend) {
      const proxy = proxies.get(client)!;
      proxy.refuse();
      proxy.cut();
    },
  };
  describeConformance({
    name: 'zookeeper',
    open: open('holdfast'),
    apart: open('apart/locks'),
    timing: { tolerance: 2 * TICK },
    faults,
  });
});

describeOn('zookeeper', 'three members, each client at another', () => {
  let members: Servers;
  let clients = 0;
  beforeAll(async () => {
    members = await startZookeeperMembers();
  }, 60_000);
  afterAll(() => members?.[Symbol.asyncDispose]());

  const open = (prefix: string) => async () => {
    const { host, port } = members.servers[clients++ % members.servers.length]!;
    return zookeeper({ servers: `${host}:${port}`, sessionTimeout, prefix });
  };
  describeConformance({ name: 'zookeeper ensemble', open: open('holdfast'), apart: open('apart/locks') });
});
