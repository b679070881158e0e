import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { Link } from '../../../src/backends/quorum/link.ts';
import { CallTimeouts } from '../../../src/core/engine/call-timeouts.ts';

/** The way to a node that answers when it is told to, and what is heard of each question. */
function scene() {
  const clock = manualClock();
  const link = new Link(clock, new CallTimeouts(clock));
  const heard: string[] = [];
  const ask = (late = true) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    link.ask(() => promise, 100, clock.now(), {
      onAnswer: (answer) => void heard.push(`answered ${answer}`),
      onFailure: (why) => void heard.push(`failed: ${(why as Error).message}`),
      ...(late ? { onLateAnswer: (answer) => void heard.push(`late ${answer}`) } : {}),
    });
    return { answer: resolve, fail: (why: string) => reject(new Error(why)) };
  };
  const isSilent = (): boolean => link.skipOrProbe() instanceof Error;
  return { clock, heard, ask, isSilent };
}
const LIMIT = 'failed: no answer within 100 ms';

test('a node is asked at any time as long as it answers, whatever it says', async () => {
  const { clock, ask, heard, isSilent } = scene();
  expect([isSilent(), isSilent()], 'before it is asked').toEqual([false, false]);
  ask().answer('yes');
  ask().fail('no');
  await clock.advance(200);
  expect(heard).toEqual(['answered yes', 'failed: no']);
  expect([isSilent(), isSilent()], 'after it answered').toEqual([false, false]);
});

test('a node that was silent past a limit is asked once in half a second', async () => {
  const { clock, ask, heard, isSilent } = scene();
  await clock.advance(1_000);
  ask();
  await clock.advance(100);
  expect(heard).toEqual([LIMIT]);
  expect(isSilent(), 'at once').toBe(true);
  await clock.advance(499);
  expect(isSilent(), 'a bit later').toBe(true);
  await clock.advance(1);
  expect([isSilent(), isSilent()], 'after half a second').toEqual([false, true]);
  await clock.advance(499);
  expect(isSilent()).toBe(true);
  await clock.advance(1);
  expect([isSilent(), isSilent()], 'after one more').toEqual([false, true]);
});

test.each([
  ['answer', (asked: { answer(answer: string): void }) => asked.answer('yes'), [LIMIT, 'late yes']],
  ['failure', (asked: { fail(why: string): void }) => asked.fail('no'), [LIMIT]],
] as const)('a late %s shows that the node is there again, and is not told as one in time', async (_, end, told) => {
  const { clock, ask, heard, isSilent } = scene();
  const asked = ask();
  await clock.advance(100);
  expect(isSilent()).toBe(true);
  end(asked);
  await clock.advance(1);
  expect(isSilent()).toBe(false);
  expect(heard).toEqual(told);
});

test('who does not care for a late answer hears nothing of it', async () => {
  const { clock, ask, heard } = scene();
  const asked = ask(false);
  await clock.advance(100);
  asked.answer('yes');
  await clock.advance(1);
  expect(heard).toEqual([LIMIT]);
});
