import assert from 'node:assert/strict';
import { SHARED } from '../../core/index.ts';
import { type Law, law } from '../law.ts';

const RACES = 20;

/** As soon as a watch is armed, it hears of every admission. What it tells is what an attempt would find. */
export const watch: readonly Law[] = [
  law('a release wakes the next in line', ['wakes'], async (scene) => {
    const [holder, waiter] = scene.pair();
    await holder.gets();
    await waiter.waits();
    await using watching = await scene.watch(waiter);
    await holder.leaves();
    await watching.isAdmitted();
  }),
  law('a mailbox hears of an admission between the attempt and the watch', ['mailbox'], async (scene) => {
    await using _ = await scene.watch(scene.contender()); // it is open from now on
    for (let race = 0; race < RACES; race++) {
      const [holder, waiter] = scene.pair();
      await holder.gets();
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
  law('an admission that races the arming is heard, or found by the attempt that follows', ['wakes'], async (scene) => {
    for (let race = 0; race < RACES; race++) {
      const [holder, waiter] = scene.pair();
      await holder.gets();
      await waiter.waits();
      // In turn the release races the arming, and then the attempt after it.
      const early = race % 2 === 1;
      const [armed] = await Promise.all([scene.watch(waiter), early && holder.leaves()]);
      await using watching = armed;
      const [answer] = await Promise.all([waiter.attempt(), early || holder.leaves()]);
      if (!answer.granted) await watching.isAdmitted();
      await waiter.leaves();
    }
  }),
  law('a release that admits several wakes them all', ['wakes', 'fair', 'shared seats'], async (scene) => {
    const holder = scene.contender();
    const readers = [...scene.pair(SHARED), ...scene.pair(SHARED)];
    await holder.gets();
    for (const reader of readers) await reader.waits();
    const watches = await Promise.all(readers.map((reader) => scene.watch(reader)));
    try {
      await holder.leaves();
      for (const watching of watches) await watching.isAdmitted();
    } finally {
      for (const watching of watches) await watching[Symbol.asyncDispose]();
    }
  }),
  law('a waiter that gives up wakes those it kept out', ['wakes', 'fair', 'shared seats'], async (scene) => {
    const holder = scene.contender(SHARED);
    const writer = scene.contender();
    const reader = scene.contender(SHARED);
    await holder.gets();
    await writer.waits();
    await reader.waits();
    await using watching = await scene.watch(reader);
    await writer.leaves();
    await watching.isAdmitted();
  }),
  law('a forced release wakes the next in line', ['wakes', 'evict'], async (scene) => {
    const [holder, waiter] = scene.pair();
    const { token } = await holder.gets();
    await waiter.waits();
    await using watching = await scene.watch(waiter);
    await scene.clients[1].evict!(scene.key, token);
    await watching.isAdmitted();
  }),
  law('a watch that was disposed of is silent', ['wakes'], async (scene) => {
    const [holder, waiter] = scene.pair();
    await holder.gets();
    await waiter.waits();
    const watching = await scene.watch(waiter);
    await watching[Symbol.asyncDispose]();
    await holder.leaves();
    await waiter.gets();
    await scene.pass(scene.tolerance);
    assert.ok(watching.silent, `${waiter} was woken after it had stopped listening`);
  }),
];
