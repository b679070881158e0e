import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { type ManualClock, manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import type { Attempt, Backend } from '../../../src/core/contract/backend.ts';
import { deadlineOf } from '../../../src/core/queue/hold-timing.ts';
import { createLocks } from '../../../src/index.ts';
import { claim } from './nodes.ts';

/** A node that grants at once, and whose answers to attempts take so many ms. */
function slow(clock: ManualClock, ms: number, node = memory({ clock })): Backend {
  const attempt: Backend['attempt'] = async (asked) => {
    const answer = await node.attempt(asked);
    await new Promise<void>((resolve) => clock.after(ms, resolve));
    return answer;
  };
  return around(node, { attempt });
}

/** One that has given `last` for the key before, so that the others have to be raised to it. */
async function ahead(clock: ManualClock, last: bigint): Promise<Backend> {
  const node = memory({ clock });
  const before = claim({ minToken: last });
  await node.attempt(before);
  await node.release(before);
  return node;
}

test('an attempt again while the ballot is open is answered with what is left of the lease, not with all of it', async () => {
  const clock = manualClock(1);
  const lock = quorum([slow(clock, 100), slow(clock, 100), slow(clock, 100)], { clock });
  const asked = claim({ ttl: 400, within: 200 });
  const answers: Promise<{ sent: number; attempt: Attempt }>[] = [];
  for (const wait of [60, 30, 0]) {
    const sent = clock.now();
    answers.push(lock.attempt(asked).then((attempt) => ({ sent, attempt })));
    await clock.advance(wait);
  }
  await clock.advance(200);
  for (const { sent, attempt } of await Promise.all(answers)) {
    if (!attempt.granted) throw new Error('refused');
    // The nodes free it 400 ms after they were asked, at 0.
    expect(deadlineOf(sent, attempt.validFor), `of the attempt sent at ${sent}`).toBeLessThanOrEqual(400);
  }
  await lock.close();
});

test('nobody else is in while a holder whose attempt was repeated believes that it holds', async () => {
  const clock = manualClock(1);
  // They answer 130 ms later, and only the second round brings them to one number: longer than an attempt may take.
  const nodes = [memory({ clock }), await ahead(clock, 20n), await ahead(clock, 30n)];
  const slowNodes = nodes.map((node) => slow(clock, 130, node));
  const one = createLocks(quorum(slowNodes, { clock }), { clock });
  const acquiring = one.mutex('k').acquire({ ttl: 400, renew: false, handOff: false });
  await clock.advance(450);
  const lease = await acquiring;
  const two = createLocks(quorum(nodes, { clock }), { clock });
  const waiting = two.mutex('k').acquire({ wait: 20_000, ttl: 5_000 });
  let next: Awaited<typeof waiting> | undefined;
  void waiting.then((had) => {
    next = had;
  });
  for (let spent = 0; !next && spent < 20_000; spent += 5) await clock.advance(5);
  expect(next?.held, 'the second').toBe(true);
  expect(lease.held, 'the first, beside the second').toBe(false);
  await Promise.all([one.close(), two.close(), clock.advance(20_000)]);
});
