import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/index.ts';

/** A leader, and a function that ends its term from outside. */
function scene() {
  const clock = manualClock(1);
  const locks = createLocks(memory({ clock }), { clock });
  const leader = locks.leader('l');
  const stop = new AbortController();
  const rest = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  return { clock, locks, leader, stop, rest };
}

test.each([
  'its signal',
  'resign()',
])('a listener of a term that ends by %s enters no lock of the caller that ends it', async (by) => {
  const { clock, locks, leader, stop, rest } = scene();
  const done: string[] = [];
  const run = leader.run(
    async ({ signal }) => {
      await new Promise<void>((resolve, reject) => {
        const flush = () => locks.mutex('x').run(async () => void done.push('the listener writes'));
        signal.addEventListener('abort', () => void flush().then(resolve, reject));
      });
      stop.abort();
    },
    { signal: stop.signal },
  );
  await clock.advance(1);
  const ends = locks.mutex('x').run(async () => {
    done.push('the caller begins');
    if (by === 'resign()') void leader.resign();
    else stop.abort();
    await rest(100);
    done.push('the caller ends');
  });
  await clock.advance(200);
  await Promise.all([ends, run]);
  expect(done).toEqual(['the caller begins', 'the caller ends', 'the listener writes']);
});

test('resign() in a listener of the term does not wait for the function, which waits for it', async () => {
  const { clock, leader, stop } = scene();
  let settled = false;
  const run = leader.run(
    async ({ signal }) => {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => void leader.resign().then(() => resolve(), reject));
      });
      settled = true;
    },
    { signal: stop.signal },
  );
  await clock.advance(1);
  stop.abort();
  await clock.advance(60_000);
  expect(settled, 'the function has ended').toBe(true);
  await run;
});
