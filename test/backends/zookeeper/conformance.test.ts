import { afterAll, beforeAll } from 'vitest';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import type { Server, Servers } from '../../kit/server.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { startZookeeper, startZookeeperMembers } from '../../kit/zookeeper.ts';

const SESSION = 1_000;

describeOn('zookeeper', 'one server', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startZookeeper();
  }, 60_000);
  afterAll(() => server?.[Symbol.asyncDispose]());
  const open = (prefix: string) => async () =>
    zookeeper({ servers: `${server.host}:${server.port}`, sessionTimeout: SESSION, prefix });
  describeConformance({ name: 'zookeeper', open: open('holdfast'), apart: open('apart/locks') });
});

describeOn('zookeeper', 'three members, every client at another', () => {
  let members: Servers;
  let clients = 0;
  beforeAll(async () => {
    members = await startZookeeperMembers();
  }, 60_000);
  afterAll(() => members?.[Symbol.asyncDispose]());
  const open = (prefix: string) => async () => {
    const { host, port } = members.servers[clients++ % members.servers.length]!;
    return zookeeper({ servers: `${host}:${port}`, sessionTimeout: SESSION, prefix });
  };
  describeConformance({ name: 'zookeeper ensemble', open: open('holdfast'), apart: open('apart/locks') });
});
