import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';

describe('the manual clock', () => {
  test('stands still until it is advanced', async () => {
    const clock = manualClock();
    await sleep(5);
    expect(clock.now()).toBe(0);
    await clock.advance(250);
    expect(clock.now()).toBe(250);
  });

  test('runs timers in order of time, those of one time in the order they were armed', async () => {
    const clock = manualClock();
    const ran: string[] = [];
    for (const [name, ms] of Object.entries({ late: 20, first: 10, second: 10, never: 31 })) {
      clock.after(ms, () => ran.push(`${name} at ${clock.now()}`));
    }
    await clock.advance(30);
    expect(ran).toEqual(['first at 10', 'second at 10', 'late at 20']);
    expect(clock.pending).toBe(1);
  });

  test('lets promises settle before the next timer, and runs what they arm', async () => {
    const clock = manualClock();
    const ran: string[] = [];
    const wait = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve));
    const work = (async () => {
      await wait(10);
      for (let turn = 0; turn < 50; turn++) await null;
      ran.push(`work at ${clock.now()}`);
      await wait(5);
      ran.push(`more at ${clock.now()}`);
    })();
    clock.after(11, () => ran.push('timer at 11'));
    await clock.advance(15);
    await work;
    expect(ran).toEqual(['work at 10', 'timer at 11', 'more at 15']);
  });

  test('forgets a cancelled timer, and takes a second cancelling', async () => {
    const clock = manualClock();
    const cancel = clock.after(5, () => expect.unreachable('cancelled'));
    cancel();
    cancel();
    expect(clock.pending).toBe(0);
    await clock.advance(10);
  });

  test('moves on under work that arms itself again with 0', async () => {
    const clock = manualClock();
    let turns = 0;
    const again = (): void => {
      turns++;
      clock.after(0, again);
    };
    again();
    await clock.advance(10);
    expect(turns).toBe(11);
  });

  test('a suspended machine: no timer moves, now misses the time, resync finds it once', async () => {
    const clock = manualClock();
    let fired = false;
    clock.after(100, () => {
      fired = true;
    });
    clock.suspend(1_000);
    expect(clock.now()).toBe(0);
    expect(clock.resync()).toBe(1_000);
    expect(clock.resync()).toBe(1_000);
    await clock.advance(99);
    expect([clock.now(), fired]).toEqual([1_099, false]);
    await clock.advance(1);
    expect([clock.now(), fired]).toEqual([1_100, true]);
  });

  test('the same seed gives the same numbers and ids, another seed others', () => {
    const draw = (seed: number): unknown[] => {
      const clock = manualClock(seed);
      return [clock.id(), clock.random(), clock.id()];
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    const clock = manualClock();
    const numbers = Array.from({ length: 1_000 }, () => clock.random());
    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
    expect(new Set(Array.from({ length: 1_000 }, () => clock.id())).size).toBe(1_000);
    expect(clock.id()).toMatch(/^[0-9a-f]{32}$/);
  });
});
