import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import { HOST } from '../../kit/net.ts';
import { program } from '../../kit/programs.ts';
import { describeOn } from '../../kit/suite.ts';
import { startZookeeper, startZookeeperMembers, zookeeperClassPath } from '../../kit/zookeeper.ts';

const client = (port: number): Locks => createLocks(zookeeper({ servers: `${HOST}:${port}` }));

const refused = (advice: RegExp) => ({ code: 'LOCK_UNAVAILABLE', message: expect.stringMatching(advice) });

describeOn('zookeeper', 'servers that take no nodes of ours say so at once', () => {
  test('where sessions are local', { timeout: 60_000 }, async () => {
    await using servers = await startZookeeperMembers(3, { localSessionsEnabled: 'true' });
    await using locks = client(servers.servers[0]!.port);
    const advice = /would not queue for "a": .*localSessionsUpgradingEnabled/;
    await expect(locks.mutex('a').acquire({ wait: 5_000 })).rejects.toMatchObject(refused(advice));
  });

  test('where the quota is used up', { timeout: 60_000 }, async () => {
    await using server = await startZookeeper({ enforceQuota: 'true' });
    await using locks = client(server.port);
    await using lease = await locks.mutex('a').acquire();
    const shell = ['-cp', zookeeperClassPath(), 'org.apache.zookeeper.ZooKeeperMain'];
    const at = ['-server', `${HOST}:${server.port}`];
    execFileSync(program('zookeeper', 'java'), [...shell, ...at, 'setquota', '-N', '1', '/holdfast'], {
      stdio: 'ignore',
    });
    const advice = /would not queue for "b": .*setquota/;
    await expect(locks.mutex('b').acquire({ wait: 5_000 })).rejects.toMatchObject(refused(advice));
    expect(await lease.release()).toBe(true);
  });
});
