/** A wait for the result of a memo is a wait like others: a ring through it is seen, and ended. */
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { loaded } from '../memo/loaded.ts';

async function processes(count: 1 | 2, detect = true) {
  const clock = manualClock();
  const engine = memory({ clock });
  const all: Locks[] = [];
  for (let n = 0; n < count; n++) all.push(await loaded(createLocks(engine, { clock, detect })));
  return { clock, one: all[0]!, other: all.at(-1)! };
}

type Clock = Awaited<ReturnType<typeof processes>>['clock'];

/** How these ended: those that did within a minute. */
async function ends(clock: Clock, calls: readonly Promise<unknown>[]): Promise<unknown[]> {
  const how: unknown[] = calls.map(() => 'waits for ever');
  for (const [n, call] of calls.entries())
    call.then(
      () => how.splice(n, 1, 'ended'),
      ({ code }) => how.splice(n, 1, code),
    );
  await clock.advance(60_000);
  return how.sort();
}

for (const [where, count] of [
  ['in one process', 1],
  ['in two processes', 2],
] as const) {
  test.each([true, false])(`a ring of a mutex and a memo, ${where} (detect: %s)`, async (detect) => {
    const { clock, one, other } = await processes(count, detect);
    const pause = (): Promise<void> => new Promise((resolve) => void clock.after(10, resolve));
    const first = one.mutex('m').run(async () => {
      await pause();
      await one.memo('k').run(() => 1);
    });
    const second = other.memo('k').run(async () => {
      await pause();
      await other.mutex('m').run(() => {}, { wait: 'forever' });
    });
    await clock.advance(100);
    if (detect) {
      const how = await ends(clock, [first, second]);
      expect(how).toEqual(['LOCK_DEADLOCK', 'ended']);
      return;
    }
    const looking = one.waits();
    await clock.advance(60_000);
    const { deadlocks } = await looking;
    expect(deadlocks).toHaveLength(1);
    expect(deadlocks[0]!.claims).toHaveLength(4);
    for (const each of [first, second]) each.catch(() => {});
    void one.close();
    void other.close();
    await clock.advance(10_000);
  });

  test(`two memos that ask for each other, ${where}`, async () => {
    const { clock, one, other } = await processes(count);
    const pause = (): Promise<void> => new Promise((resolve) => void clock.after(10, resolve));
    const first = one.memo('a', { keep: '1h' }).run(async () => {
      await pause();
      return (await one.memo('b', { keep: '1h' }).run(() => 1)).value;
    });
    const second = other.memo('b', { keep: '1h' }).run(async () => {
      await pause();
      return (await other.memo('a', { keep: '1h' }).run(() => 1)).value;
    });
    const how = await ends(clock, [first, second]);
    expect(how).not.toContain('waits for ever');
    expect(how).toContain('LOCK_DEADLOCK');
  });
}

test.each([true, false])('a memo has its own detect, whatever all locks have (detect: %s)', async (detect) => {
  const { clock, one, other } = await processes(2, !detect);
  const first = one.mutex('m').run(async () => {
    await new Promise<void>((resolve) => void clock.after(10, resolve));
    await one.memo('k', { detect }).run(() => 1);
  });
  const second = other.memo('k').run(() => other.mutex('m').run(() => 2, { wait: 'forever', detect: false }));
  expect(await ends(clock, [first, second])).toEqual(
    detect ? ['LOCK_DEADLOCK', 'ended'] : ['waits for ever', 'waits for ever'],
  );
  void one.close();
  void other.close();
  await clock.advance(10_000);
});
