/** Blocks that name etcd or ZooKeeper, on a real one. */
import { afterEach, test } from 'vitest';
import { startEtcdMembers } from '../../kit/etcd.ts';
import { describeOn } from '../../kit/suite.ts';
import { startZookeeperMembers } from '../../kit/zookeeper.ts';
import { found } from '../block.ts';
import { closeAll } from '../tracked.ts';
import { expectOneAtATime } from './exclusive.ts';

afterEach(closeAll);

describeOn('etcd', 'blocks on etcd', () => {
  test('etcd: four processes are inside one after the other', async () => {
    await using members = await startEtcdMembers();
    const endpoints = members.servers.map(({ host, port }) => `${host}:${port}`);
    await expectOneAtATime(found('docs/backends/etcd.md', 'In one minute'), {
      "['10.0.0.1:2379', '10.0.0.2:2379', '10.0.0.3:2379']": JSON.stringify(endpoints),
    });
  }, 60_000);
});

describeOn('zookeeper', 'blocks on zookeeper', () => {
  test('zookeeper: four processes are inside one after the other', async () => {
    await using members = await startZookeeperMembers();
    const servers = members.servers.map(({ host, port }) => `${host}:${port}`).join(',');
    await expectOneAtATime(found('docs/backends/zookeeper.md', 'In one minute'), {
      'zk1:2181,zk2:2181,zk3:2181': servers,
    });
  }, 60_000);
});
