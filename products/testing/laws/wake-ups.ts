import assert from 'node:assert/strict';
import { type Law, law, needing } from '../case.ts';
import { courses } from '../course.ts';
import type { Scene } from '../scene.ts';

const RACES = 20;

/** An armed watch is notified of every admission. An attempt finds the grant that the notification brings. */
const ofWaiters: readonly Law[] = [
  ...courses([], {
    'a release wakes the next in line':
      'holder gets, waiter waits, waiter listens, holder leaves, waiter is notified and gets',
    'a watch that was disposed of is silent': `
      holder gets, waiter waits, waiter listens, waiter stops listening,
      holder leaves, waiter gets, waiter is not notified`,
  }),
  ...courses(['fairness', 'shared units'], {
    'a release that admits several wakes them all': `
      holder gets, reader 1 waits, reader 2 waits, reader 3 waits, reader 4 waits,
      reader 1 listens, reader 2 listens, reader 3 listens, reader 4 listens, holder leaves,
      reader 1 is notified and gets, reader 2 is notified and gets, reader 3 is notified and gets, reader 4 is notified and gets`,
    'a waiter that gives up wakes those it kept out': `
      reader gets, writer waits, late reader waits, late reader listens,
      writer leaves, late reader is notified and gets`,
  }),
  ...courses(['evict'], {
    'a forced release wakes the next in line':
      'holder gets, waiter waits, waiter listens, holder is evicted, waiter is notified and gets',
  }),
  law('an admission that races the arming is notified, or found by the attempt that follows', async (scene) => {
    for (let race = 0; race < RACES; race++) {
      const [holder, waiter] = [await scene.holder(), await scene.waiter()];
      // In every second race the release races the arming of the watch, otherwise the attempt after it.
      const early = race % 2 === 1;
      const [armed] = await Promise.all([scene.watch(waiter), early && holder.leaves()]);
      await using watching = armed;
      const [answer] = await Promise.all([waiter.attempt(), early || holder.leaves()]);
      if (!answer.granted) await watching.isAdmitted();
      await waiter.leaves();
    }
  }),
];

/** An observer has no claim. As soon as its watch is armed, it is notified of every change of the queue. */
const ofObservers: readonly Law[] = [
  law(
    'an observer is notified of the first claim, of another, and of a holder that leaves',
    ['fairness'],
    async (scene) => {
      const [holder, waiter] = [scene.participant(), scene.participant()];
      const steps: Readonly<Record<string, () => Promise<unknown>>> = {
        'the first came': () => holder.gets(),
        'another came': () => waiter.waits(),
        'the holder left': () => holder.leaves(),
      };
      for (const [what, step] of Object.entries(steps)) {
        await using observer = await observe(scene);
        assert.equal(observer.times, 0, 'notified before anything happened');
        await step();
        await scene.soon(observer.notified, `an observer is notified that ${what}`);
      }
    },
  ),
  law('an observer is notified of a hold that expires', ['expiry'], async (scene) => {
    await scene.holder({ ttl: scene.ttl });
    await using observer = await observe(scene);
    await scene.expired();
    await scene.soon(observer.notified, 'an observer is notified of the expiry');
  }),
  law('an observer is notified once, and not after it has left', ['fairness'], async (scene) => {
    await using stays = await observe(scene);
    const leaves = await observe(scene);
    await leaves[Symbol.asyncDispose]();
    const [holder, other] = [await scene.holder(), await scene.waiter()];
    await scene.soon(stays.notified, 'an observer is notified');
    await holder.leaves();
    await using later = await observe(scene);
    await other.leaves();
    await scene.soon(later.notified, 'an observer is notified'); // if the others were notified, it was before this
    assert.equal(stays.times, 1, 'notified once');
    assert.equal(leaves.times, 0, 'not notified after it has left');
  }),
];

async function observe(scene: Scene) {
  const { promise: notified, resolve } = Promise.withResolvers<void>();
  const observer = { notified, times: 0 };
  const watch = await scene.clients[1].changed!(scene.key, () => {
    observer.times++;
    resolve();
  });
  return Object.assign(observer, { [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose]() });
}

export const wakeUps: readonly Law[] = [
  ...needing('wake-ups', ofWaiters),
  law('an admission between the attempt and the watch reaches the waiter', ['buffered'], async (scene) => {
    await using _ = await scene.watch(scene.participant()); // opens the client's channel of wake-ups
    for (let race = 0; race < RACES; race++) {
      const [holder, waiter] = [await scene.holder(), scene.participant()];
      const sent = scene.clock.now();
      await waiter.waits();
      const leaves = holder.leaves();
      if (race % 2 === 1) await leaves;
      if (race === 1) await scene.pass(scene.tolerance);
      const [armed] = await Promise.all([scene.watch(waiter, sent), leaves]);
      await using watching = armed;
      await watching.isAdmitted();
      await waiter.leaves();
    }
  }),
  ...needing('changed', ofObservers),
];
