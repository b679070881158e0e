import assert from 'node:assert/strict';
import { SHARED } from '../../../src/core/index.ts';
import { type Law, law } from '../case.ts';
import { courses } from '../course.ts';

const CROWD = 8;
const QUEUE = 6;
const permits = (units: number) => ({ units, capacity: 3 });

/** Which claims may hold a key together. */
const exclusion: readonly Law[] = [
  ...courses([], {
    'an exclusive hold keeps out every client, its own too':
      'passing holder gets, passing claim 1 waits, passing claim 2 waits, passing holder gets',
  }),
  law('a hold of one key leaves another key alone', async (scene) => {
    await scene.holder();
    await scene.holder({ key: `${scene.key}/other` });
  }),
  law('of many exclusive attempts at the same time at most one is granted', async (scene) => {
    const crowd = Array.from({ length: CROWD }, () => scene.passing());
    const answers = await Promise.all(crowd.map((participant) => participant.attempt()));
    const winners = answers.filter(({ granted }) => granted).length;
    assert.ok(winners <= 1, `${winners} of ${CROWD} simultaneous exclusive attempts were granted`);
    for (const participant of crowd) await participant.release();
    await scene.holder();
  }),
  ...courses(['shared units'], {
    'readers share, and keep a writer out to the last': `
      passing reader 1 gets, passing reader 2 gets, passing writer waits,
      passing reader 1 leaves, passing writer waits, passing reader 2 leaves, passing claim gets`,
    'a writer keeps readers out': 'writer gets, passing reader 1 waits, passing reader 2 waits',
  }),
  law('permits are granted while their units fit, and no further', ['counted units'], async (scene) => {
    const [two, one] = [scene.passing(permits(2)), scene.passing(permits(1))];
    await two.gets();
    await scene.passing(permits(2)).waits();
    await one.gets();
    await scene.passing(permits(1)).waits();
    await two.leaves();
    await scene.passing(permits(2)).gets();
    await scene.passing(permits(1)).waits();
  }),
  law('kinds mixed on one key exclude each other by their demand', ['counted units'], async (scene) => {
    const permit = scene.passing(permits(1));
    await permit.gets();
    await scene.passing().waits();
    await scene.passing(SHARED).gets();
    await scene.passing(SHARED).gets();
    await scene.passing(SHARED).waits(); // the key has three units, and every kind of claim counts
    await permit.leaves();
    await scene.passing(SHARED).gets();
  }),
];

/** First come, first served: the claims at the head of the queue hold the key, in the order of their tokens. */
const order: readonly Law[] = [
  law('claims are admitted in the order they came, with growing tokens', ['fairness'], async (scene) => {
    const queue = [await scene.holder()];
    while (queue.length < QUEUE) queue.push(await scene.waiter());
    for (const [place, waiter] of queue.slice(1).entries()) {
      const before = queue[place]!;
      await before.leaves();
      for (const behind of queue.slice(place + 2)) await behind.waits();
      const { token } = await waiter.gets();
      assert.ok(token > before.token, `token ${token} of ${waiter} must be above ${before.token}, of ${before}`);
    }
  }),
  law('attempts at the same time form one line', ['fairness'], async (scene) => {
    const waiting = new Set(Array.from({ length: QUEUE }, () => scene.participant()));
    await Promise.all([...waiting].map((participant) => participant.attempt()));
    for (let last = -1n; waiting.size > 0; ) {
      const winners = [];
      for (const participant of waiting) if ((await participant.attempt()).granted) winners.push(participant);
      const [winner] = winners;
      assert.ok(winner, `nobody is admitted, and ${waiting.size} wait`);
      assert.equal(winners.length, 1, `${winners.join(' and ')} are admitted together`);
      assert.ok(winner.token > last, `token ${winner.token} came after ${last}`);
      last = winner.token;
      waiting.delete(winner);
      await winner.leaves();
    }
  }),
  ...courses(['fairness', 'shared units'], {
    'a claim without queue does not overtake those who wait':
      'reader gets, writer waits, passing reader waits, reader leaves, writer gets',
    'a release admits everyone that fits, up to the first that does not': `
      writer gets, reader 1 waits, reader 2 waits, next writer waits, late reader waits,
      writer leaves, reader 1 gets, reader 2 gets, next writer waits, late reader waits`,
    'a waiter that gives up makes room for those behind it':
      'reader gets, writer waits, late reader waits, writer leaves, late reader gets',
  }),
  law('a refusal says how many stand ahead and when the first of them may expire', ['fairness'], async (scene) => {
    const holder = await scene.holder();
    for (const place of [1, 2]) {
      const waiter = scene.participant();
      // An engine may leave out `ahead` and `retryAfter`. Each one that it gives must be right.
      const { ahead = place, retryAfter = 1 } = await waiter.waits();
      assert.equal(ahead, place, `ahead of ${waiter}`);
      const longest = holder.claim.ttl + scene.tolerance;
      assert.ok(
        retryAfter >= 0 && (retryAfter <= longest || retryAfter === Number.POSITIVE_INFINITY),
        `${waiter} got retryAfter ${retryAfter}`,
      );
    }
  }),
];

/** An id names one claim, so a repeat after a lost reply does no harm. */
const identity: readonly Law[] = [
  ...courses([], {
    'a repeated attempt keeps its token': 'holder gets, holder gets the same token',
    'a claim attempted twice is released once': 'holder gets, holder gets, holder leaves, other gets',
    'a refusal without queue leaves nothing behind':
      'holder gets, passing claim waits, passing claim has nothing, holder leaves, passing next gets',
    'a refused claim without queue is not admitted later':
      'holder gets, passing claim waits, holder leaves, passing claim is gone, passing claim has nothing',
  }),
  ...courses(['fairness'], {
    'a repeated attempt keeps its place in line':
      'holder gets, first waits, second waits, first waits, holder leaves, second waits, first gets',
  }),
];

/** A release frees only its own claim, once. In the same step the next claim of the process may join the queue. */
const release: readonly Law[] = [
  ...courses([], {
    'the release of an unknown id frees nothing':
      'stranger has nothing, passing holder gets, stranger has nothing, passing claim waits',
    'a second release frees nothing, least of all the next holder':
      'former gets, former leaves, next gets, former has nothing, passing claim waits, next leaves',
  }),
  law('a release hands a free key to its next claim', async (scene) => {
    const holder = await scene.holder();
    const next = scene.participant({}, holder.client);
    const answer = await holder.release(next.claim);
    assert.equal(answer.freed, true, `${holder} had a hold to free`);
    if (answer.next && !answer.next.granted) assert.fail(`${next} must be granted in the step that freed the key`);
    const { token } = await next.gets();
    if (answer.next?.granted) assert.equal(token, answer.next.token, 'the token told by the release');
    if (next.client.traits.fencing !== 'never') assert.ok(token > holder.token, `${token} after ${holder.token}`);
    await scene.passing().waits();
  }),
  law('the next claim of a release stands behind those who wait', ['fairness'], async (scene) => {
    const [holder, waiter] = [await scene.holder(), await scene.waiter()];
    const next = scene.participant({}, holder.client);
    const answer = await holder.release(next.claim);
    assert.notEqual(answer.next?.granted, true, `${next} was granted past ${waiter}`);
    await next.waits();
    await waiter.gets();
    await waiter.leaves();
    await next.gets();
  }),
  law('a release of nothing still lets its next claim in', async (scene) => {
    const stranger = scene.participant();
    const next = scene.participant({}, stranger.client);
    const answer = await stranger.release(next.claim);
    assert.equal(answer.freed, false, `${stranger} had nothing to free`);
    assert.notEqual(answer.next?.granted, false, `${next} was refused a free key`);
    await next.gets();
  }),
];

/** What a backend says of itself. A client that closes disturbs no other. */
const clients: readonly Law[] = [
  law('a hold without an end can tell that it is lost', async (scene) => {
    const grant = await scene.participant().gets();
    if (grant.validFor !== Number.POSITIVE_INFINITY) return;
    if (!grant.lost) assert.fail('validFor is Infinity and there is no lost signal: nobody would ever notice');
    assert.equal(grant.lost.aborted, false, 'lost, while the hold is good');
  }),
  law('a client that closes, even twice, disturbs no other', async (scene) => {
    const holder = await scene.holder();
    const leaving = await scene.another();
    await scene.passing({}, leaving).waits();
    await leaving.close();
    await leaving.close();
    await holder.renews();
    await scene.passing({}, scene.clients[1]).waits();
  }),
  law('the traits say what there is', async ({ clients: [{ name, traits, watch }] }) => {
    assert.notEqual(name, '', 'a backend has a name');
    assert.equal(watch !== undefined, traits.wakes !== 'never', `wakes is ${traits.wakes}, watch is ${typeof watch}`);
    const { min, max } = traits.ttl;
    assert.ok(min > 0 && min <= max, `a ttl from ${min} to ${max}`);
  }),
];

export const admission: readonly Law[] = [...identity, ...exclusion, ...order, ...release, ...clients];
