import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { BusyPoll, POLL_LIMIT, spareAfter } from '../../src/core/engine/busy-poll.ts';
import { CallTimeouts } from '../../src/core/engine/call-timeouts.ts';
import { createLocks } from '../../src/index.ts';
import { manualClock } from '../../src/testing/index.ts';

const late = (): Error => new Error('late');

/** An event loop by hand, and an engine that answers when it is told to. */
function scene() {
  const clock = manualClock();
  const asked: (() => void)[] = [];
  const patience = new CallTimeouts(clock, new BusyPoll({ ...clock, turn: (fn) => asked.push(fn) }));
  return {
    call() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const answer = async (): Promise<void> => {
        resolve();
        await promise;
      };
      return { answer, done: patience.bound(promise, 1_000, late) };
    },
    /** One turn of the loop, `ms` after the last; whether it was asked for, so that the loop did not sleep before it. */
    async turn(ms = 0.01): Promise<boolean> {
      if (ms > 0) await clock.advance(ms);
      const fn = asked.shift();
      fn?.();
      return fn !== undefined;
    },
    async answeredAfter(turns: number): Promise<number> {
      const { answer, done } = this.call();
      let awake = 0;
      for (let i = 0; i < turns; i++) if (await this.turn()) awake++;
      await answer();
      await done;
      return awake;
    },
    get asked(): number {
      return asked.length;
    },
  };
}
const TOO_LONG = POLL_LIMIT / 0.01 + 2;

describe('busy polling', () => {
  test('the loop turns while a lone call is under way, and sleeps again after its answer', async () => {
    const loop = scene();
    expect(await loop.answeredAfter(5)).toBe(5);
    await loop.turn();
    expect(loop.asked, 'turns still asked for after the answer').toBe(0);
  });

  test('an answer that comes before the loop has turned was polled for in vain: the next call is spared', async () => {
    const loop = scene();
    await loop.answeredAfter(3);
    await loop.answeredAfter(0);
    expect(await loop.answeredAfter(3), 'the turn of before, at most').toBeLessThanOrEqual(1);
    expect(await loop.answeredAfter(3), 'and only that one').toBe(3);
  });

  test('an answer that comes at the first turn was worth it', async () => {
    const loop = scene();
    for (let i = 0; i < 5; i++) expect(await loop.answeredAfter(1)).toBe(1);
    expect(await loop.answeredAfter(3)).toBe(3);
  });

  test('where the loop cannot be turned nothing is polled for', () => {
    const poll = new BusyPoll({ ...manualClock(), turn: undefined });
    expect(() => poll.begin(0)).not.toThrow();
  });

  test('it lasts less than a millisecond, and an engine far away is tried at every thousandth call or so', () => {
    expect(POLL_LIMIT).toBeLessThan(1);
    let spared = 0;
    for (let calls = 0; calls < 30; calls++) spared = spareAfter(spared, false);
    expect(spared).toBe(1_024);
  });

  test('calls one after the other are all polled for, in one chain of turns', async () => {
    const loop = scene();
    for (let i = 0; i < 20; i++) {
      expect(await loop.answeredAfter(3), `turns while call ${i} was under way`).toBe(3);
      expect(loop.asked, 'turns asked for at once').toBe(1);
    }
  });

  test('a call is polled for no longer than the limit', async () => {
    const loop = scene();
    const awake = await loop.answeredAfter(1_000);
    expect(awake * 0.01).toBeGreaterThan(POLL_LIMIT - 0.02);
    expect(awake * 0.01).toBeLessThan(POLL_LIMIT + 0.02);
    expect(loop.asked).toBe(0);
  });

  test('who is not alone is not polled for', async () => {
    const loop = scene();
    const [first, second] = [loop.call(), loop.call()];
    await loop.turn(); // the one that was asked for when the first was alone
    expect(await loop.turn()).toBe(false);
    await Promise.all([first.answer(), second.answer(), first.done, second.done]);
    expect(await loop.answeredAfter(3), 'alone again').toBe(3);
  });

  test('a call that fails, or is given up, asks for no more turns', async () => {
    const clock = manualClock();
    let turns = 0;
    const patience = new CallTimeouts(clock, new BusyPoll({ ...clock, turn: () => turns++ }));
    await expect(patience.bound(Promise.reject(new Error('refused')), 10, late)).rejects.toThrow('refused');
    const given = expect(patience.bound(new Promise(() => {}), 10, late)).rejects.toThrow('late');
    await clock.advance(10);
    await given;
    expect(turns).toBe(1);
  });

  test('the rarer it helps, the rarer it is tried: of n calls in vain, about log n and one in 1,024', async () => {
    for (const [what, turns] of [
      ['answers that take too long', TOO_LONG],
      ['answers at once', 0],
    ] as const) {
      const loop = scene();
      let polled = 0;
      for (let i = 0; i < 3_000; i++) {
        const { answer, done } = loop.call();
        if (loop.asked > 0) polled++;
        for (let turn = 0; turn < turns && loop.asked > 0; turn++) await loop.turn();
        await answer();
        await done;
        await loop.turn(0);
      }
      expect(polled, what).toBe(12);
    }
  });

  test('one answer in time, and every call is polled for again', async () => {
    const loop = scene();
    for (let i = 0; i < 3; i++) await loop.answeredAfter(TOO_LONG);
    const awake: number[] = [];
    for (let i = 0; i < 8; i++) awake.push(await loop.answeredAfter(3));
    const first = awake.indexOf(3);
    expect(first, `turns per call: ${awake}`).toBeGreaterThanOrEqual(0);
    expect(awake.slice(first)).toEqual(awake.slice(first).fill(3));
  });

  test('never more calls are spared in a row than the bound, whatever came before', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 40 }), (caught) => {
        const spared = caught.reduce(spareAfter, 0);
        return spared >= 0 && spared <= 1_024 && (caught.at(-1) !== true || spared === 0);
      }),
    );
  });

  test('without busyPoll: true no turn is asked for', async () => {
    let turns = 0;
    const turn = (): void => void turns++;
    for (const busyPoll of [true, false, undefined]) {
      turns = 0;
      await using locks = createLocks(memory(), { clock: { ...manualClock(), turn }, busyPoll });
      await (await locks.mutex('k').acquire()).release();
      expect(turns > 0, `busyPoll: ${busyPoll}`).toBe(busyPoll === true);
    }
  });

  test('a busyPoll that is neither true nor false is refused', () => {
    expect(() => createLocks(memory(), { busyPoll: 'no' as never })).toThrow(
      /busyPoll is "no"; it must be true or false/,
    );
  });
});
