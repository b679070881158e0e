import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { createLocks } from '../../src/index.ts';
import { scene, TTL, work } from './scene.ts';

const NAME = 'feed';
const PERIOD = 10_000;

test("with overlap: 'skip' a tick is left out while an earlier one runs, for every instance, and the one after is run", async () => {
  const { clock, instance, tick } = scene();
  const { runs, ends, fn } = work();
  const [a, b] = [instance('a'), instance('b')];
  const skip = { overlap: 'skip' } as const;
  const first = a.once(NAME, tick, fn, skip);
  await clock.advance(PERIOD);
  expect(await b.once(NAME, tick + PERIOD, fn, skip)).toEqual({ ran: false, reason: 'overlap', by: 'a' });
  ends[0]!.resolve('');
  await first;
  expect(await a.once(NAME, tick + PERIOD, fn, skip), 'that was decided').toMatchObject({ reason: 'taken' });
  await clock.advance(PERIOD);
  const third = b.once(NAME, tick + 2 * PERIOD, fn, skip);
  await clock.advance(1);
  ends[1]!.resolve('');
  expect(await third).toMatchObject({ ran: true });
  expect(runs[1]!.token, 'the token grows over the ticks').toBeGreaterThan(runs[0]!.token);
});

test("with overlap: 'queue' a tick waits for the one before, while it is young", async () => {
  const { clock, instance, tick } = scene();
  const { runs, ends, fn } = work();
  const queue = { overlap: 'queue', within: '30s' } as const;
  const first = instance('a').once(NAME, tick, fn, queue);
  await clock.advance(PERIOD);
  const second = instance('b').once(NAME, tick + PERIOD, fn, queue);
  await clock.advance(PERIOD);
  const third = instance('c').once(NAME, tick + 2 * PERIOD, fn, queue);
  await clock.advance(1);
  expect(runs).toHaveLength(1);
  ends[0]!.resolve('');
  await first;
  await clock.advance(1);
  expect(runs.map((run) => run.tick.getTime())).toEqual([tick, tick + PERIOD]);
  await clock.advance(30_001);
  expect(await third, 'it got old in the queue').toMatchObject({ ran: false, reason: 'overlap', by: 'b' });
  ends[1]!.resolve('');
  expect(await second).toMatchObject({ ran: true });
});

test('an instance that was paused between its keys and its function, for longer than a lease, begins again: the tick is not lost', async () => {
  const { clock, kept, tick } = scene();
  let [running, leapt] = [false, 0];
  const backend = around(kept, {
    async attempt(claim) {
      const answer = await kept.attempt(claim);
      running ||= claim.key.endsWith('@running');
      return answer;
    },
  });
  const paused = {
    ...clock,
    now: () => clock.now() + leapt,
    resync: () => clock.resync() + leapt,
    epoch() {
      if (running) leapt = 2 * TTL;
      return clock.epoch() + leapt;
    },
  };
  const locks = createLocks(backend, { clock: paused, ttl: TTL });
  const result = locks.once(NAME, tick, () => 1, { overlap: 'skip' });
  await clock.advance(3 * TTL);
  expect(await result).toMatchObject({ ran: true });
});

test('an instance that loses its tick while it waits for an earlier run leaves no record of it: the tick is run', async () => {
  const { clock, kept, instance, tick } = scene();
  const { runs, ends, fn } = work();
  const backend = around(kept, { traits: { ...kept.traits, expires: false, lifetime: 'session' } });
  const queue = { overlap: 'queue', within: '30s' } as const;
  const [a, b, c] = ['a', 'b', 'c'].map((label) => instance(label, { backend }));
  const first = a!.once(NAME, tick, fn, queue);
  await clock.advance(PERIOD);
  const second = b!.once(NAME, tick + PERIOD, fn, queue);
  await clock.advance(TTL);
  const key = `${NAME}@${new Date(tick + PERIOD).toISOString()}`;
  expect(await c!.forceRelease(key, { reason: 'its session ended' }), 'it had the tick').toBe(1);
  await clock.advance(TTL); // it is told
  ends[0]!.resolve('');
  await first;
  const third = c!.once(NAME, tick + PERIOD, fn, queue);
  await clock.advance(TTL);
  expect(
    runs.map((run) => run.tick.getTime()),
    'once, by the one that lost it or by another one',
  ).toEqual([tick, tick + PERIOD]);
  ends[1]!.resolve('');
  const results = await Promise.allSettled([second, third]);
  expect(results.filter((each) => each.status === 'fulfilled' && each.value.ran)).toHaveLength(1);
});
