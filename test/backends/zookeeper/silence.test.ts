import { afterAll, beforeAll, expect, test } from 'vitest';
import { zookeeper } from '../../../src/backends/zookeeper/index.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Backend, Claim, Grant, Renewal } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { exchange, HOST } from '../../kit/net.ts';
import { startProxy } from '../../kit/proxy.ts';
import type { Server, Servers } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { startZookeeperMembers } from '../../kit/zookeeper.ts';

/** A follower reports its clients to the leader every half of it. ms. */
const TICK = 200;
const SESSION = 2_000;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const claimOf = (key: string): Claim => {
  const rest = { ttl: 60_000, queue: true, tokenCount: 1, within: 30_000, label: '' };
  return { key, id: systemClock.id(), ...EXCLUSIVE, ...rest };
};

/** Until when the holder believes in its hold, by the answer to a renewal. */
async function believedAfterRenewal(backend: Backend, claim: Claim): Promise<number> {
  let believed = 0;
  await until('the hold is renewed', async () => {
    const began = performance.now();
    const [renewal] = (await backend.renew([claim])) as [Renewal];
    if (renewal === 'unknown') return false;
    believed = renewal === 'gone' ? 0 : began + renewal.validFor;
    return true;
  });
  return believed;
}

describeOn('zookeeper', 'three members, and a follower that stops before it has told the leader of its clients', () => {
  let members: Servers;
  beforeAll(async () => {
    members = await startZookeeperMembers(3, { tickTime: `${TICK}`, initLimit: '50', syncLimit: '20' });
  }, 60_000);
  afterAll(() => members?.[Symbol.asyncDispose]());

  const leaderAndFollower = async (): Promise<[Server, Server]> => {
    const said = await Promise.all(members.servers.map(({ port }) => exchange(port, 'srvr')));
    const leads = said.findIndex((report) => report.includes('Mode: leader'));
    return [members.servers[leads]!, members.servers[(leads + 1) % said.length]!];
  };
  const client = ({ port }: { port: number }): Backend =>
    zookeeper({ servers: `${HOST}:${port}`, sessionTimeout: SESSION });

  // In parts of the session timeout: none; one that the connection outlasts; and one after which the session is resumed on another.
  test.for([
    0, 0.2, 0.45,
  ])('after a silence of %f of the session the holder believes no longer than the leader', async (part) => {
    const [leader, follower] = await leaderAndFollower();
    await using proxy = await startProxy(follower.port);
    const [holder, other] = [client(proxy), client(leader)];
    const [claim, next] = [claimOf(`silence of ${part}`), claimOf(`silence of ${part}`)];
    try {
      const began = performance.now();
      let believed = began + ((await holder.attempt(claim)) as Grant).validFor;
      await other.attempt(next);
      await sleep(SESSION / 2); // the opening of the session says nothing any more
      proxy.stall('up');
      await sleep(SESSION * part);
      await proxy.pass();
      believed = Math.max(believed, await believedAfterRenewal(holder, claim));
      follower.pause(); // within half a tick, and all that the leader will ever hear of it has been said
      await until('another holds', async () => (await other.attempt(next)).granted);
      expect(performance.now() - believed, 'ms since the holder knew that it has lost').toBeGreaterThan(0);
    } finally {
      follower.resume();
      await Promise.all([holder.close(), other.close()]);
    }
  });
});
