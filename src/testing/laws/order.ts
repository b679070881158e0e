import assert from 'node:assert/strict';
import { SHARED } from '../../core/index.ts';
import { type Law, law } from '../law.ts';

const QUEUE = 6;

/** First come, first served: the claims at the head of the line hold the key, in the order of their tokens. */
export const order: readonly Law[] = [
  law('claims are admitted in the order they came, with growing tokens', ['fair'], async (scene) => {
    const line = Array.from({ length: QUEUE }, () => scene.contender());
    let last = (await line[0]!.gets()).token;
    for (const waiter of line.slice(1)) await waiter.waits();
    for (const [place, waiter] of line.slice(1).entries()) {
      await line[place]!.leaves();
      for (const behind of line.slice(place + 2)) await behind.waits();
      const { token } = await waiter.gets();
      assert.ok(token > last, `token ${token} of ${waiter} must be above ${last}, of the claim ahead of it`);
      last = token;
    }
  }),
  law('attempts at the same time form one line', ['fair'], async (scene) => {
    const crowd = Array.from({ length: QUEUE }, () => scene.contender());
    await Promise.all(crowd.map((contender) => contender.attempt()));
    const waiting = new Set(crowd);
    let last: bigint | undefined;
    while (waiting.size > 0) {
      let winner: { contender: (typeof crowd)[number]; token: bigint } | undefined;
      for (const contender of waiting) {
        const answer = await contender.attempt();
        if (!answer.granted) continue;
        if (winner) assert.fail(`${winner.contender} and ${contender} are admitted together`);
        winner = { contender, token: answer.token };
      }
      if (!winner) assert.fail(`nobody is admitted, and ${waiting.size} wait`);
      assert.ok(last === undefined || winner.token > last, `token ${winner.token} came after ${last}`);
      last = winner.token;
      waiting.delete(winner.contender);
      await winner.contender.leaves();
    }
  }),
  law('a claim without queue does not overtake those who wait', ['fair', 'shared seats'], async (scene) => {
    const reader = scene.contender(SHARED);
    const writer = scene.contender();
    await reader.gets();
    await writer.waits();
    await scene.contender({ ...SHARED, queue: false }).waits();
    await reader.leaves();
    await writer.gets();
  }),
  law('a release admits everyone that fits, up to the first that does not', ['fair', 'shared seats'], async (scene) => {
    const writer = scene.contender();
    const readers = scene.pair(SHARED);
    const nextWriter = scene.contender();
    const lateReader = scene.contender(SHARED);
    await writer.gets();
    for (const waiter of [...readers, nextWriter, lateReader]) await waiter.waits();
    await writer.leaves();
    for (const reader of readers) await reader.gets();
    for (const waiter of [nextWriter, lateReader]) await waiter.waits();
  }),
  law('a waiter that gives up makes room for those behind it', ['fair', 'shared seats'], async (scene) => {
    const reader = scene.contender(SHARED);
    const writer = scene.contender();
    const lateReader = scene.contender(SHARED);
    await reader.gets();
    await writer.waits();
    await lateReader.waits();
    await writer.leaves();
    await lateReader.gets();
  }),
  law('a refusal tells how many stand ahead and when the first of them may expire', ['fair'], async (scene) => {
    const line = Array.from({ length: 3 }, () => scene.contender());
    await line[0]!.gets();
    for (const [ahead, waiter] of [...line.entries()].slice(1)) {
      const refusal = await waiter.waits();
      // An engine may leave out both figures. If it gives one, it must be right.
      assert.equal(refusal.ahead ?? ahead, ahead, `ahead of ${waiter}`);
      const { retryAfter = 1 } = refusal;
      const longest = line[0]!.claim.ttl + scene.tolerance;
      assert.ok(
        retryAfter >= 0 && (retryAfter <= longest || retryAfter === Number.POSITIVE_INFINITY),
        `${waiter} heard retryAfter ${retryAfter}`,
      );
    }
  }),
];
