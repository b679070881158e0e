/** A watch that fires once, set again and again: etcd and ZooKeeper tell their waiters by it. */
import { describe, expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { type Notify, RepeatedWatch, together, watchEach } from '../../../src/backends/shared/repeated-watch.ts';
import type { Cancel, Clock } from '../../../src/core/contract/clock.ts';

/** A server that sets watches when it is told to. */
function scene() {
  const clock = manualClock();
  const timers: (boolean | undefined)[] = [];
  const observed: Clock = {
    ...clock,
    after(ms, fn, background) {
      timers.push(background);
      return clock.after(ms, fn);
    },
  };
  const asked: { readonly notify: Notify; answer(cancel?: Cancel): void; fail(): void }[] = [];
  const told: string[] = [];
  const set = (notify: Notify): Promise<Cancel | undefined> => {
    const { promise, resolve, reject } = Promise.withResolvers<Cancel | undefined>();
    asked.push({ notify, answer: resolve, fail: () => reject(new Error('the server is away')) });
    return promise;
  };
  return {
    clock,
    timers,
    asked,
    told,
    set,
    watch: new RepeatedWatch(set, () => void told.push('trouble'), observed),
    /** Answers the watch that was asked for as number `at`; how it ends is told. */
    async isSet(at: number): Promise<void> {
      asked[at]!.answer(() => void told.push(`ended ${at}`));
      await clock.advance(0);
    },
    async fires(at: number): Promise<void> {
      asked[at]!.notify();
      await clock.advance(0);
    },
  };
}
type Scene = ReturnType<typeof scene>;

/** A scene in which the first watch is set. */
async function armed(): Promise<Scene> {
  const all = scene();
  const armed = all.watch.arm();
  await all.isSet(0);
  await armed;
  return all;
}

const end = (watch: AsyncDisposable) => watch[Symbol.asyncDispose]();

test('after each watch that fires the next one is set', async () => {
  const { asked, isSet, fires, told } = await armed();
  expect(asked).toHaveLength(1);
  await fires(0);
  await isSet(1);
  await fires(1);
  expect(asked).toHaveLength(3);
  expect(told, 'what has fired is not ended, too').toEqual([]);
});

test('a watch that fires twice, or after the next one was set, starts no more than one', async () => {
  const { asked, isSet, fires } = await armed();
  await fires(0);
  await fires(0);
  await isSet(1);
  await fires(0);
  expect(asked).toHaveLength(2);
});

test('a watch is waited for until it fires or is ended', async () => {
  const { asked, watch, isSet, fires } = await armed();
  expect(asked[0]!.notify.isOver()).toBe(false);
  await fires(0);
  await isSet(1);
  expect(asked.map(({ notify }) => notify.isOver())).toEqual([true, false]);
  await end(watch);
  expect(asked.map(({ notify }) => notify.isOver())).toEqual([true, true]);
});

test('the end ends the watch that is set, and no other one is set after it', async () => {
  const { asked, watch, isSet, fires, told } = await armed();
  await fires(0);
  await isSet(1);
  await end(watch);
  expect(told).toEqual(['ended 1']);
  await fires(1);
  await watch.arm();
  expect(asked).toHaveLength(2);
});

test('a watch that the server sets only after the end is ended at once', async () => {
  const { watch, isSet, told, timers } = scene();
  void watch.arm();
  await end(watch);
  await isSet(0);
  expect(told).toEqual(['ended 0']);
  expect(timers).toEqual([]);
});

test('of a watch that fires before the server has answered only the next one is ended', async () => {
  const { asked, watch, isSet, fires, told } = scene();
  void watch.arm();
  await fires(0);
  expect(asked).toHaveLength(2);
  await isSet(1);
  await isSet(0);
  await end(watch);
  expect(told).toEqual(['ended 1']);
});

test('where there is nothing to wait for any more, no watch is set again', async () => {
  const { asked, watch, clock, fires, timers } = scene();
  const armed = watch.arm();
  asked[0]!.answer();
  await armed;
  expect(asked[0]!.notify.isOver()).toBe(true);
  await fires(0);
  await watch.arm();
  await clock.advance(10_000);
  expect(asked).toHaveLength(1);
  expect(timers).toEqual([]);
});

describe('a watch that could not be set', () => {
  async function failed(): Promise<Scene> {
    const all = scene();
    const armed = all.watch.arm();
    all.asked[0]!.fail();
    await armed;
    return all;
  }

  test('is told at once, and is set again after a quarter of a second', async () => {
    const { asked, clock, told } = await failed();
    expect(told).toEqual(['trouble']);
    await clock.advance(249);
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    expect(asked).toHaveLength(2);
  });

  test('keeps no process alive until it is set again', async () => {
    const { timers } = await failed();
    expect(timers, 'whether each timer is one of the background').toEqual([true]);
  });

  test('is not set again after the end', async () => {
    const { asked, clock, watch } = await failed();
    await end(watch);
    expect(clock.pending).toBe(0);
    await clock.advance(1_000);
    expect(asked).toHaveLength(1);
  });

  test('is no trouble where nobody waits for it any more', async () => {
    const { asked, clock, watch, told, timers } = scene();
    const armed = watch.arm();
    await end(watch);
    asked[0]!.fail();
    await armed;
    await clock.advance(1_000);
    expect([told, timers]).toEqual([[], []]);
    expect(asked).toHaveLength(1);
  });
});

describe('a claim that is woken after each change', () => {
  function watched() {
    const all = scene();
    const woken: number[] = [];
    const set = async (notify: Notify): Promise<Cancel> => (await all.set(notify))!;
    const watch = watchEach(set, () => woken.push(all.asked.length), all.clock);
    void watch.arm();
    return { ...all, woken, watch };
  }

  test('is woken when the next watch is set, so it misses no change, and not by the first one', async () => {
    const { isSet, fires, woken } = watched();
    await isSet(0);
    expect(woken).toEqual([]);
    await fires(0);
    expect(woken, 'the next one is not set yet').toEqual([]);
    await isSet(1);
    expect(woken).toEqual([2]);
    await fires(1);
    await isSet(2);
    expect(woken).toEqual([2, 3]);
  });

  test('is woken if a watch could not be set: it may miss a change', async () => {
    const { asked, clock, woken } = watched();
    asked[0]!.fail();
    await clock.advance(0);
    expect(woken).toEqual([1]);
  });

  test('is woken when its first watch could be set only at a later try: it may have missed a change in between', async () => {
    const { asked, clock, isSet, woken } = watched();
    asked[0]!.fail();
    await clock.advance(250);
    expect(woken, 'the next one is not set yet').toEqual([1]);
    await isSet(1);
    expect(woken).toEqual([1, 2]);
  });

  test('is woken when its first watch fired before the server had answered it', async () => {
    const { isSet, fires, woken } = watched();
    await fires(0);
    await isSet(1);
    expect(woken).toEqual([2]);
  });

  test('is left alone after the end', async () => {
    const { isSet, told, watch, fires, asked } = watched();
    await isSet(0);
    await end(watch);
    expect(told).toEqual(['ended 0']);
    await fires(0);
    expect(asked).toHaveLength(1);
  });
});

test('several watches end together, once each of them has ended', async () => {
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const begun: number[] = [];
  const [first, second] = ends.map(({ promise }, at) => ({
    [Symbol.asyncDispose]: () => {
      begun.push(at);
      return promise;
    },
  }));
  const clock = manualClock();
  let over = false;
  const ended = end(together(first, undefined, second)).then(() => {
    over = true;
  });
  expect(begun).toEqual([0, 1]);
  ends[0]!.resolve();
  await clock.advance(0);
  expect(over, 'one has not ended').toBe(false);
  ends[1]!.resolve();
  await ended;
  expect(over).toBe(true);
});
