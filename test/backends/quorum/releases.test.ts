import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import { Link, NodeReleases } from '../../../src/backends/quorum/link.ts';
import { CallTimeouts } from '../../../src/core/engine/call-timeouts.ts';

/** A node that fails each release until it is `up`, and when it was asked. */
async function scene(expiry = 60_000) {
  const clock = manualClock();
  await clock.advance(1_000);
  const node = { up: false };
  const asked: number[] = [];
  const backend = around(memory(), {
    release: async () => {
      asked.push(clock.now() - 1_000);
      if (!node.up) throw new Error('connection refused');
      return { freed: true };
    },
  });
  const background: (boolean | undefined)[] = [];
  const { after } = clock;
  const ended: number[] = [];
  clock.after = (ms, fn, alone) => {
    background.push(alone);
    const cancel = after(ms, fn, alone);
    return () => {
      if (ms >= 50 && ms !== 100) ended.push(ms); // no limit of a question
      cancel();
    };
  };
  const releases = new NodeReleases(backend, new Link(clock, new CallTimeouts(clock)));
  const told: unknown[] = [];
  releases.begin({ key: 'k', id: 'a' }, 100, expiry, (freed) => void told.push(freed));
  await clock.advance(1);
  return { clock, node, asked, told, releases, background, ended };
}

test('a release is tried again after longer and longer pauses until the node says so', async () => {
  const { clock, node, asked, told, background } = await scene();
  await clock.advance(7_999);
  expect(asked).toEqual([0, 50, 150, 350, 750, 1_550, 3_150, 5_150, 7_150]);
  node.up = true;
  await clock.advance(60_000);
  expect(asked.slice(9)).toEqual([9_150]);
  expect(told, 'of the first try').toEqual([undefined]);
  expect(new Set(background), 'timers that keep no process alive').toEqual(new Set([true]));
});

test('a release that the node answers is not tried again', async () => {
  const { clock, node, asked, releases } = await scene();
  node.up = true;
  await clock.advance(49);
  const told: unknown[] = [];
  releases.begin({ key: 'k', id: 'b' }, 100, 60_000, (freed) => void told.push(freed));
  await clock.advance(10_000);
  expect(asked).toEqual([0, 50, 50]);
  expect(told).toEqual([true]);
});

test('a release is given up when what it is for must have expired', async () => {
  const { clock, asked } = await scene(150);
  await clock.advance(10_000);
  expect(asked).toEqual([0, 50, 150]);
});

test('nothing is tried again after closing', async () => {
  const { clock, asked, releases } = await scene();
  const before = clock.pending;
  releases.close();
  expect(clock.pending, 'timers').toBe(before - 1);
  releases.close();
  await clock.advance(10_000);
  expect(asked).toEqual([0]);
  releases.begin({ key: 'k', id: 'b' }, 100, 60_000, () => {});
  await clock.advance(10_000);
  expect(asked, 'once more at most').toHaveLength(2);
});

test('nothing is kept of a pause that is over', async () => {
  const { clock, asked, releases, ended } = await scene();
  await clock.advance(1_000);
  expect(asked).toHaveLength(5);
  releases.close();
  expect(ended, 'pauses that closing ended').toHaveLength(1);
});
