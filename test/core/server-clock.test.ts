import fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { ServerClock, ServerClocks } from '../../src/backends/shared/server-clock.ts';

/** A server whose clock is `ahead` of ours, and what is known of it. */
function scene(ahead: number) {
  const clock = manualClock();
  const server = new ServerClock(clock);
  return {
    clock,
    server,
    there: () => clock.now() + ahead,
    /** A request and its answer, which take so long. */
    async asks(way: number, back: number, told = true): Promise<void> {
      const sent = clock.now();
      await clock.advance(way);
      const time = clock.now() + ahead;
      await clock.advance(back);
      server.learn(time, told ? sent : undefined);
    },
  };
}

test('nothing is known of a server before it has answered', async () => {
  const { server, asks, clock } = scene(5_000);
  expect([server.known, server.in(10)]).toEqual([false, undefined]);
  await asks(1, 1);
  expect([server.known, server.age]).toEqual([true, 0]);
  await clock.advance(70);
  expect(server.age).toBe(70);
});

test('a limit is never too late, and too early by the way back of the quickest answer at most', async () => {
  const ways = fc.array(fc.tuple(fc.nat({ max: 50 }), fc.nat({ max: 50 })), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(ways, fc.integer({ min: -1e6, max: 1e6 }), async (answers, ahead) => {
      const { server, asks, there } = scene(ahead);
      for (const [way, back] of answers) await asks(way, back);
      const least = Math.min(...answers.map(([, back]) => back));
      expect(server.in(100)).toBe(there() + 100 - least);
    }),
  );
});

test('a limit counts from the moment that is given', async () => {
  const { server, asks, clock, there } = scene(5_000);
  await asks(3, 0);
  expect(server.in(100, clock.now() - 40)).toBe(there() + 60);
});

test('a clock that was set back is noticed by an answer that cannot be of the old one', async () => {
  const { server, asks, clock, there } = scene(5_000);
  await asks(3, 0);
  const back = there() - 1_000;
  const sent = clock.now();
  await clock.advance(2);
  server.learn(back, sent);
  expect(server.in(0)).toBe(back);
});

test('a slow answer of the same clock changes nothing', async () => {
  const { server, asks, there } = scene(5_000);
  await asks(3, 0);
  await asks(0, 40);
  expect(server.in(0)).toBe(there());
});

test('where nobody knows when it was asked for, only the newest answer counts', async () => {
  const { server, asks, there } = scene(5_000);
  await asks(3, 0);
  await asks(0, 40, false);
  expect(server.in(0)).toBe(there() - 40);
});

test('what the server shows now is known as long as its last answer is new enough', async () => {
  const { server, asks, clock, there } = scene(5_000);
  expect(server.lately(100)).toBeUndefined();
  await asks(3, 0);
  await clock.advance(100);
  expect(server.lately(100)).toBe(there());
  await clock.advance(1);
  expect(server.lately(100)).toBeUndefined();
});

test('each server has a clock of its own, and all keys of a server go by that', () => {
  const clocks = new ServerClocks(manualClock(), (key) => key.slice(0, 1));
  clocks.of('a1').learn(5_000, 0);
  clocks.of('b1').learn(9_000, 0);
  expect(['a1', 'a2', 'b2', 'c1'].map((key) => clocks.of(key).in(0))).toEqual([5_000, 5_000, 9_000, undefined]);
});

test('where there is one server, all keys go by its clock', () => {
  const clocks = new ServerClocks(manualClock(), undefined);
  clocks.of('a').learn(5_000, 0);
  expect(clocks.of('b').in(0)).toBe(5_000);
});
