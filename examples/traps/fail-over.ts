import { memoryFence } from '../../src/fence/index.ts';
import { isLockError } from '../../src/index.ts';
import { startProxy } from '../../test/kit/proxy.ts';
import type { Server } from '../../test/kit/server.ts';
import { until } from '../../test/kit/wait.ts';
import type { Scene, Trap } from './scene.ts';

/** A replica that has not heard of the last write when it takes over: replication does not wait. */
async function failOver(scene: Scene, lastWrite: () => Promise<unknown>): Promise<Server> {
  await using network = await startProxy(scene.server.port);
  const replica = await scene.another({ replicaof: [network.host, `${network.port}`] });
  const client = scene.client(replica);
  await until('the replica is connected', async () =>
    (await client.info('replication')).includes('master_link_status:up'),
  );
  network.blackhole(); // for a moment
  await lastWrite();
  await scene.server.kill();
  await client.replicaof('NO', 'ONE');
  return replica;
}

export const failOverLoses: Trap = {
  title: 'A fail-over forgets the lock: two owners',

  async naive(scene) {
    const replica = await failOver(scene, () => scene.client().set('job', 'first', 'PX', 60_000, 'NX'));
    const second = await scene.client(replica).set('job', 'second', 'PX', 60_000, 'NX');
    return {
      right: second === null,
      seen: second ? 'the new primary gives the lock to a second one' : 'the lock is there',
    };
  },

  /** The same happens to any lock on one Redis with replicas. What helps: the next token is higher all the same. */
  async holdfast(scene) {
    let first = 0n;
    const replica = await failOver(scene, async () => {
      first = (await scene.locks({ ttl: '2s' }).mutex('job').acquire()).token;
    });
    const fence = memoryFence('the resource');
    await using second = await scene.locks({}, scene.client(replica)).mutex('job').acquire();
    fence.claim(second.token);
    try {
      fence.claim(first);
      return { right: false, seen: 'both owners write' };
    } catch (error) {
      if (!isLockError(error, 'LOCK_FENCED')) throw error;
      return { right: true, seen: 'there are two owners, as with any such lock; the resource refuses the older token' };
    }
  },
};
