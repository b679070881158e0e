import assert from 'node:assert/strict';
import type { Law } from '../case.ts';

/** Messages that come late, clients that die, clients that leave. */
export const doubt: readonly Law[] = [
  {
    name: 'an attempt that reaches the engine late is refused, and leaves nothing',
    needs: ['faults.stall'],
    async check(scene) {
      const [client, other] = scene.clients;
      const early = scene.contender({ queue: false }, client);
      await early.gets(); // from here on the client knows the engine's time
      await early.leaves();
      const late = scene.contender({ within: scene.ttl }, client);
      const resume = await scene.subject.faults!.stall!(client);
      // A client that gave up in the meantime throws: the outcome is unknown to it, and must still be "refused" here.
      const answer = client.attempt(late.claim).catch(() => undefined);
      await scene.lapsed();
      await resume();
      assert.notEqual((await answer)?.granted, true, `${late} was granted ${scene.ttl} ms and more after it was sent`);
      await scene.contender({ queue: false }, other).gets();
    },
  },
  {
    name: 'what a dead client held or waited for is free again after the ttl',
    needs: ['faults.die'],
    async check(scene) {
      const [dying, client] = scene.clients;
      const holder = scene.contender({ ttl: scene.ttl }, dying);
      const waiting = scene.contender({ ttl: scene.ttl }, dying);
      const next = scene.contender({}, client);
      const { lost } = await holder.gets();
      await waiting.waits();
      await next.waits();
      await scene.subject.faults!.die!(dying);
      await scene.lapsed();
      // The place of the dead may have become a hold, when the one ahead of it lapsed first.
      if (!(await next.attempt()).granted) await scene.lapsed();
      await next.gets();
      if (lost) assert.ok(lost.aborted, `${holder} lost its session, and its lost signal is silent`);
    },
  },
  {
    name: 'a hold without an end can tell that it is lost',
    async check(scene) {
      const grant = await scene.contender().gets();
      if (grant.validFor !== Number.POSITIVE_INFINITY) return;
      if (!grant.lost) assert.fail('validFor is Infinity and there is no lost signal: nobody would ever notice');
      assert.equal(grant.lost.aborted, false, 'lost, while the hold is good');
    },
  },
  {
    name: 'a client that closes, even twice, disturbs no other',
    async check(scene) {
      const holder = scene.contender();
      await holder.gets();
      const leaving = await scene.another();
      await scene.contender({ queue: false }, leaving).waits();
      await leaving.close();
      await leaving.close();
      await holder.renews();
      await scene.contender({ queue: false }, scene.clients[1]).waits();
    },
  },
  {
    name: 'the traits say what there is',
    async check({ clients: [{ name, traits, watch }] }) {
      assert.notEqual(name, '', 'a backend has a name');
      assert.equal(watch !== undefined, traits.wakes !== 'never', `wakes is ${traits.wakes}, watch is ${typeof watch}`);
      assert.ok(
        traits.ttl.min > 0 && traits.ttl.min <= traits.ttl.max,
        `a ttl from ${traits.ttl.min} to ${traits.ttl.max}`,
      );
    },
  },
];
