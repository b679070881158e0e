import { afterAll, beforeAll, expect, test } from 'vitest';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import { EXCLUSIVE } from '../../../src/core/admission.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { Contender } from '../../../src/testing/contender.ts';
import { exchange, HOST } from '../../kit/net.ts';
import type { Server, Servers } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { startZookeeperMembers } from '../../kit/zookeeper.ts';

/** Without a look at the leader about every fourth of them is answered from before the release. */
const ROUNDS = 30;
/** Long enough for both, the news of the leader and our question, to lie at the door of the member that stands still. ms. */
const STILL = 5;

describeOn('zookeeper', 'three members of which one lags', () => {
  let members: Servers;
  beforeAll(async () => {
    members = await startZookeeperMembers();
  }, 60_000);
  afterAll(() => members?.[Symbol.asyncDispose]());

  const member = async (mode: 'leader' | 'follower'): Promise<Server> => {
    for (const server of members.servers) if ((await exchange(server.port, 'srvr')).includes(mode)) return server;
    throw new Error(`no ${mode}`);
  };

  test('a claim that waits there is admitted as soon as the release is over', async () => {
    const [leader, follower] = [await member('leader'), await member('follower')];
    const [near, far] = [leader, follower].map(({ port }) => zookeeper({ servers: `${HOST}:${port}` }));
    const claim = { ...EXCLUSIVE, key: 'lagging', ttl: 60_000, within: 60_000, queue: true, span: 1, label: 'lagging' };
    try {
      for (let round = 1; round <= ROUNDS; round++) {
        const holder = new Contender(near!, { ...claim, id: systemClock.id() });
        const waiter = new Contender(far!, { ...claim, id: systemClock.id() });
        await holder.gets();
        await waiter.waits();
        follower.pause();
        await holder.leaves();
        const asked = waiter.attempt();
        await new Promise((resolve) => setTimeout(resolve, STILL));
        follower.resume();
        expect((await asked).granted, `in round ${round}, with nobody ahead`).toBe(true);
        await waiter.leaves();
      }
    } finally {
      follower.resume();
      await Promise.all([near!.close(), far!.close()]);
    }
  });
});
