/** How long a quorum lets a waiter pause: by its place among the processes that wait, and by how long the nodes take. */
import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { stepUntilEnd } from '../../../products/testing/limited.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { claim } from './nodes.ts';

/** Two processes that ask every 20 ms for a key that a third one has; their pauses are in thousandths of their wait. */
async function scene(answersAfter: number) {
  const clock = Object.assign(manualClock(), { random: () => 0.5 });
  const nodes = [1, 2, 3].map(() => {
    const node = memory({ clock });
    const attempt: Backend['attempt'] = async (asked) => {
      if (answersAfter > 0) await new Promise<void>((resolve) => clock.after(answersAfter, resolve));
      return node.attempt(asked);
    };
    return around(node, { attempt });
  });
  const during = <T>(work: Promise<T>): Promise<T> => stepUntilEnd(work, () => clock.advance(1));
  const [holder, ...waiters] = [1, 2, 3].map(() => quorum(nodes, { clock }));
  await during(holder!.attempt(claim({ ttl: 60_000 })));
  const since: number[] = [];
  const refuse = async (i: number): Promise<number> => {
    const answer = await during(waiters[i]!.attempt(claim()));
    since[i] ??= clock.now();
    return answer.granted ? Number.NaN : Math.round((1_000 * answer.retryAfter!) / (clock.now() - since[i]));
  };
  const both = async (): Promise<number[]> => [await refuse(0), await refuse(1)];
  const wait = async (ms: number): Promise<void> => {
    for (const until = clock.now() + ms; clock.now() < until; await clock.advance(20)) await both();
  };
  const giveUp = async (): Promise<void> => {
    for (const waiter of waiters) await waiter.release(claim());
  };
  return { clock, both, wait, refuse, giveUp };
}

/** The pauses of both after so many ms. */
async function pauses(waits: number, answersAfter: number): Promise<number[]> {
  const { wait, both } = await scene(answersAfter);
  await wait(waits);
  return both();
}

test('who is next asks again after a fortieth of its wait, and who is behind it after a twentieth', async () => {
  expect(await pauses(900, 0)).toEqual([25, 50]);
});

test('where the nodes take long to answer, nobody is next that soon, and each asks again after a tenth of its wait', async () => {
  expect(await pauses(200, 30)).toEqual([100, 100]);
});

test('who lets another one go first learns nothing of how long the nodes take, and is as patient as before', async () => {
  const { clock, both, wait, refuse, giveUp } = await scene(30);
  await wait(3_000);
  expect(await both(), 'one is next, and one behind it').toEqual([25, 50]);
  await giveUp();
  await refuse(1);
  await clock.advance(300);
  expect(await refuse(1), 'who has not waited anew for sixteen of their answers is not next').toBe(100);
});
