import { expect, test } from 'vitest';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import { manualClock } from '../../../src/testing/index.ts';
import { claim } from './nodes.ts';

/** Two processes over three nodes; one has the key, and the other has waited for so long, ms. */
async function scene(waits: number) {
  const clock = manualClock();
  const nodes = [1, 2, 3].map(() => memory({ clock }));
  const [here, there] = [quorum(nodes, { clock }), quorum(nodes, { clock })];
  const during = async <T>(work: Promise<T>): Promise<T> => {
    let over = false;
    const end = (): void => {
      over = true;
    };
    work.then(end, end);
    while (!over) await clock.advance(1);
    return work;
  };
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
