import assert from 'node:assert/strict';
import { type Law, law } from '../law.ts';

/** Late messages, clients that die, and clients that leave. */
export const doubt: readonly Law[] = [
  law('an attempt that reaches the engine late is refused, and leaves nothing', ['faults.stall'], async (scene) => {
    const [client, other] = scene.clients;
    const early = scene.contender({ queue: false }, client);
    await early.gets(); // now the client knows the engine's time
    await early.leaves();
    const late = scene.contender({ within: scene.ttl }, client);
    const resume = await scene.subject.faults!.stall!(client);
    // A client that gave up throws, since it does not know the outcome. The outcome must still be a refusal.
    const answer = client.attempt(late.claim).catch(() => undefined);
    await scene.expired();
    await resume();
    assert.notEqual((await answer)?.granted, true, `${late} was granted ${scene.ttl} ms and more after it was sent`);
    await scene.contender({ queue: false }, other).gets();
  }),
  law('what a dead client held or waited for is free again after the ttl', ['faults.die'], async (scene) => {
    const [dying, client] = scene.clients;
    const holder = scene.contender({ ttl: scene.ttl }, dying);
    const waiting = scene.contender({ ttl: scene.ttl }, dying);
    const next = scene.contender({}, client);
    const { lost } = await holder.gets();
    await waiting.waits();
    await next.waits();
    await scene.subject.faults!.die!(dying);
    await scene.expired();
    // If the first hold expired before the dead client's place, that place became a hold, which must expire, too.
    if (!(await next.attempt()).granted) await scene.expired();
    await next.gets();
    if (lost) assert.ok(lost.aborted, `${holder} lost its session, and its lost signal is silent`);
  }),
  law('a hold without an end can tell that it is lost', async (scene) => {
    const grant = await scene.contender().gets();
    if (grant.validFor !== Number.POSITIVE_INFINITY) return;
    if (!grant.lost) assert.fail('validFor is Infinity and there is no lost signal: nobody would ever notice');
    assert.equal(grant.lost.aborted, false, 'lost, while the hold is good');
  }),
  law('a client that closes, even twice, disturbs no other', async (scene) => {
    const holder = scene.contender();
    await holder.gets();
    const leaving = await scene.another();
    await scene.contender({ queue: false }, leaving).waits();
    await leaving.close();
    await leaving.close();
    await holder.renews();
    await scene.contender({ queue: false }, scene.clients[1]).waits();
  }),
  law('the traits say what there is', async ({ clients: [{ name, traits, watch }] }) => {
    assert.notEqual(name, '', 'a backend has a name');
    assert.equal(watch !== undefined, traits.wakes !== 'never', `wakes is ${traits.wakes}, watch is ${typeof watch}`);
    assert.ok(
      traits.ttl.min > 0 && traits.ttl.min <= traits.ttl.max,
      `a ttl from ${traits.ttl.min} to ${traits.ttl.max}`,
    );
  }),
];
