import { expect, test } from 'vitest';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import { manualClock } from '../../../src/testing/index.ts';
import { stepUntilEnd } from '../../../src/testing/limited.ts';
import { claim, told } from './nodes.ts';

/** Two processes over three nodes; one has the key, and the other has waited for so long, ms. */
async function scene(waits: number) {
  const clock = manualClock();
  const nodes = [1, 2, 3].map(() => memory({ clock }));
  const [here, there] = [quorum(nodes, { clock }), quorum(nodes, { clock })];
  const during = <T>(work: Promise<T>): Promise<T> => stepUntilEnd(work, () => clock.advance(1));
  const [before, held] = [claim(), claim()];
  await during(here.attempt(before));
  await during(here.release(before));
  await during(here.attempt(held)); // at once: it is busy
  for (const since = clock.now(); clock.now() - since < waits; await clock.advance(5))
    await during(there.attempt(claim()));
  const again = async (): Promise<boolean> => (await during(here.attempt(claim()))).granted;
  return { clock, here, there, held, during, again };
}

test('who has waited for long goes first: the process that gives the key back does not get it again before', async () => {
  const { here, there, held, during, again } = await scene(100);
  await during(here.release(held));
  expect(await again(), 'the process that had it').toBe(false);
  const next = claim();
  expect((await during(there.attempt(next))).granted, 'the one that waited').toBe(true);
  await during(there.release(next));
});

test('who is next and does not ask any more holds nobody up for longer than half a second', async () => {
  const { clock, here, held, during, again } = await scene(100);
  await during(here.release(held));
  expect(await again()).toBe(false);
  await clock.advance(500);
  expect(await again()).toBe(true);
});

test.each([
  25, 300, 2_000,
])('a try that was refused leaves the next one, %i ms later, nothing to wait for', async (later) => {
  const { clock, here, there, held, during } = await scene(0);
  expect((await during(there.attempt(claim()))).granted, 'while it is taken').toBe(false);
  await during(here.release(held));
  await clock.advance(later);
  expect((await during(there.attempt(claim()))).granted, 'when it is free').toBe(true);
});

test('of processes that began to wait together one asks, and the others only read that it is next', async () => {
  const clock = manualClock();
  const nodes = [1, 2, 3].map(() => memory({ clock }));
  const asked = [0, 0, 0, 0];
  const counted = (process: number) =>
    quorum(
      nodes.map((node) =>
        told(node, (vote) => {
          asked[process]!++;
          return vote;
        }),
      ),
      { clock },
    );
  const held = quorum(nodes, { clock }).attempt(claim({ ttl: 120_000 }));
  for (let i = 0; i < 500; i++) await clock.advance(1);
  expect((await held).granted).toBe(true);
  let over = false;
  const wait = async (process: number): Promise<void> => {
    const waiter = counted(process);
    await new Promise<void>((resume) => clock.after(10 * process, resume));
    while (!over) {
      const answer = await waiter.attempt(claim());
      const pause = answer.granted ? 1 : answer.retryAfter!;
      await new Promise<void>((resume) => clock.after(pause, resume));
    }
  };
  const waits = asked.map((_, process) => wait(process));
  for (let i = 0; i < 20_000; i++) await clock.advance(1);
  asked.fill(0);
  for (let i = 0; i < 10_000; i++) await clock.advance(1);
  expect(
    asked.filter((count) => count > 0),
    'votes that each process asked for',
  ).toHaveLength(1);
  over = true;
  for (let i = 0; i < 2_000; i++) await clock.advance(1);
  await Promise.all(waits);
});
