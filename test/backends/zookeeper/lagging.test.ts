import { afterAll, beforeAll, expect, test } from 'vitest';
import { Participant } from '../../../products/testing/participant.ts';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { breakAt, listenForDebugger } from '../../kit/jdwp.ts';
import { exchange, freePorts, HOST } from '../../kit/net.ts';
import type { Server, Servers } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin } from '../../kit/wait.ts';
import { startZookeeperMembers } from '../../kit/zookeeper.ts';

/** Without a look at the leader about every fourth of them is answered from before the release. */
const ROUNDS = 30;
/** Long enough for both, the news of the leader and our question, to lie at the door of the member that stands still. ms. */
const STILL = 5;
/** Time enough for an answer that does not wait for the leader. ms. */
const AT_ONCE = 300;
const COMMITS = 'org.apache.zookeeper.server.quorum.CommitProcessor';

describeOn('zookeeper', 'three members of which one lags', () => {
  let members: Servers;
  let debuggers: readonly number[];
  beforeAll(async () => {
    debuggers = await freePorts(3);
    members = await startZookeeperMembers(3, {}, (member) => [listenForDebugger(debuggers[member]!)]);
  }, 60_000);
  afterAll(() => members?.[Symbol.asyncDispose]());

  const member = async (mode: 'leader' | 'follower'): Promise<Server> => {
    for (const server of members.servers) if ((await exchange(server.port, 'srvr')).includes(mode)) return server;
    throw new Error(`no ${mode}`);
  };

  const claim = {
    ...EXCLUSIVE,
    key: 'lagging',
    ttl: 60_000,
    within: 60_000,
    queue: true,
    tokenCount: 1,
    label: 'lagging',
  };
  const client = ({ port }: Server) => zookeeper({ servers: `${HOST}:${port}` });

  test('a claim that waits at the leader is not refused for a release that a follower has answered', async () => {
    const [leader, follower] = [await member('leader'), await member('follower')];
    const [near, far] = [client(leader), client(follower)];
    try {
      const holder = new Participant(far, { ...claim, id: systemClock.id() }, systemClock);
      const waiter = new Participant(near, { ...claim, id: systemClock.id() }, systemClock);
      await holder.gets();
      await waiter.waits();
      const asked = await (async () => {
        // The followers have been told to commit; the leader itself is about to.
        await using lag = await breakAt(debuggers[members.servers.indexOf(leader)]!, COMMITS, 'commit');
        await holder.leaves();
        await settleWithin('the leader lags', lag.reached);
        const asked = waiter.attempt();
        await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, AT_ONCE))]);
        return { answer: asked };
      })();
      expect((await asked.answer).granted, 'with nobody ahead').toBe(true);
      await waiter.leaves();
    } finally {
      await Promise.all([near.close(), far.close()]);
    }
  });

  test('a claim that waits at a follower is admitted as soon as the release is over', async () => {
    const [leader, follower] = [await member('leader'), await member('follower')];
    const [near, far] = [client(leader), client(follower)];
    try {
      for (let round = 1; round <= ROUNDS; round++) {
        const holder = new Participant(near, { ...claim, id: systemClock.id() }, systemClock);
        const waiter = new Participant(far, { ...claim, id: systemClock.id() }, systemClock);
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
      await Promise.all([near.close(), far.close()]);
    }
  });
});
