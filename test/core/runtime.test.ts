import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { EXCLUSIVE, SHARED } from '../../src/core/contract/admission.ts';
import { channels } from '../../src/core/contract/events.ts';
import { LayeredOptions } from '../../src/core/contract/option-table.ts';
import type { LockOptions } from '../../src/core/contract/options.ts';
import { Frame } from '../../src/core/queue/frame.ts';
import { LockRuntime } from '../../src/core/queue/runtime.ts';
import { createLocks } from '../../src/index.ts';

function setup() {
  const clock = manualClock();
  const engine = memory({ clock });
  const runtime = new LockRuntime(engine, clock);
  const take = (key: string, options: LockOptions = {}, demand = EXCLUSIVE) =>
    runtime.take(key, demand, new LayeredOptions(engine.traits, options).terms);
  return { clock, engine, runtime, take };
}

describe('the lines of a thousand keys are kept for their next use', () => {
  test.each([
    ['and so is one of a thousand', 999, true],
    ['and one more is forgotten when nobody uses it', 1_000, false],
  ])('%s', async (_, others, kept) => {
    const { runtime, take } = setup();
    const line = runtime.queue('key');
    for (let i = 0; i < others; i++) runtime.queue(`other ${i}`);
    const lease = await take('key');
    expect(runtime.queue('key'), 'while it is held').toBe(line);
    await lease!.release();
    expect(runtime.queue('key') === line).toBe(kept);
  });
});

describe('what a process knows of its own', () => {
  test('is who holds and who waits, in their order, for all keys or for some', async () => {
    const { clock, runtime, take } = setup();
    expect(runtime.localEntries(), 'before it has claimed anything').toEqual([]);
    await take('a', { label: 'first' });
    await clock.advance(40);
    void take('a', { label: 'second' });
    void take('a', { label: 'third' }, SHARED);
    await take('b', { label: 'alone' });
    await clock.advance(60);
    const shown = (keys?: string[]) =>
      runtime
        .localEntries(keys)
        .map((line) => line.map(({ key, label, since, queued, units }) => [key, label, since, queued, units]));
    const { units: all } = EXCLUSIVE;
    const line = [
      ['a', 'first', 100, true, all],
      ['a', 'second', 60, false, all],
      ['a', 'third', 60, false, 1],
    ];
    expect(shown(['a'])).toEqual([line]);
    expect(shown()).toEqual([line, [['b', 'alone', 60, true, all]]]);
    expect(shown(['no such key'])).toEqual([]);
  });

  test('names each request by a number of its own, the one that its claim has', async () => {
    const { runtime, take, engine } = setup();
    await take('a');
    void take('a');
    void take('a', {}, SHARED);
    const origins = () => runtime.localEntries(['a'])[0]!.map(({ origin }) => origin);
    const numbers = origins().map(({ claim }) => claim);
    expect(new Set(numbers).size).toBe(3);
    expect(
      origins().map(({ claim }) => claim),
      'asked again',
    ).toEqual(numbers);
    const { process, claim } = origins()[0]!;
    for await (const { label, held } of engine.inspect!('a'))
      if (held) expect(label).toContain(`${process}.${claim.toString(36)}`);
  });

  test('names a hold that passed from hand to hand by the number of its claim, whoever has it', async () => {
    const { runtime, take } = setup();
    const first = await take('a');
    const waiting = take('a');
    const numbers = () => runtime.localEntries(['a'])[0]!.map(({ origin }) => origin.claim);
    const [claim, waiter] = numbers();
    expect(waiter).not.toBe(claim);
    await first!.release();
    await waiting;
    expect(numbers()).toEqual([claim]);
  });

  test('says whether anybody in this process waits for a key', async () => {
    const { clock, runtime, take } = setup();
    expect(runtime.isWaitedFor('a')).toBe(false);
    const lease = await take('a');
    expect(runtime.isWaitedFor('a'), 'held by one').toBe(false);
    const waiting = take('a');
    await clock.advance(1);
    expect(runtime.isWaitedFor('a'), 'and waited for by another').toBe(true);
    await lease!.release();
    await (await waiting)!.release();
    expect(runtime.isWaitedFor('a'), 'in the end').toBe(false);
  });
});

describe('closing', () => {
  test('is done once, and whoever closes again waits for the same end', async () => {
    const clock = manualClock();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let closes = 0;
    const engine = around(memory({ clock }), {
      close() {
        closes++;
        return ended;
      },
    });
    const locks = createLocks(engine, { clock });
    let over = 0;
    for (const closed of [locks.close(), locks.close()]) void closed.then(() => over++);
    await clock.advance(10);
    expect([closes, over]).toEqual([1, 0]);
    end();
    await clock.advance(1);
    expect(over).toBe(2);
  });

  test('from a listener of a release waits for that release', async () => {
    const clock = manualClock();
    const order: string[] = [];
    const memories = memory({ clock });
    const engine = around(memories, {
      async release(handle) {
        await new Promise<void>((answered) => clock.after(100, answered));
        order.push('released');
        return memories.release(handle);
      },
      close: async () => void order.push('closed'),
    });
    const locks = createLocks(engine, { clock });
    const lease = await locks.mutex('key').acquire();
    const listener = (): void => void locks.close();
    channels.released.subscribe(listener);
    const released = lease.release();
    channels.released.unsubscribe(listener);
    await clock.advance(1_000);
    expect(await released).toBe(true);
    expect(order).toEqual(['released', 'closed']);
  });

  test('leaves no timer behind, of renewals and of a look for deadlocks', async () => {
    const clock = manualClock();
    const engine = memory({ clock });
    await using others = createLocks(engine, { clock });
    const theirs = await others.mutex('theirs').acquire({ renew: false });
    const locks = createLocks(engine, { clock });
    const inside = locks.mutex('ours').run(() => locks.mutex('theirs').acquire({ detect: true }));
    const ended = expect(inside).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
    await clock.advance(500);
    expect(clock.pending, 'while it waits').toBeGreaterThan(0);
    void locks.close();
    await clock.advance(10);
    await ended;
    await theirs.release();
    await others.close();
    expect(clock.pending).toBe(0);
  });
});

test('a caller is inside of a hold in the function that this is held for, and nowhere else', async () => {
  const { runtime, take } = setup();
  const [outer, inner] = [(await take('a'))!, (await take('b'))!];
  const inside = (): boolean[] => [outer, inner].map(({ hold }) => Frame.holdsAround(runtime).includes(hold));
  expect(inside()).toEqual([false, false]);
  await new Frame(runtime, outer, EXCLUSIVE).run(async () => {
    expect(inside()).toEqual([true, false]);
    await new Frame(runtime, inner, EXCLUSIVE).run(() => expect(inside()).toEqual([true, true]), inner);
    expect(inside()).toEqual([true, false]);
    expect(Frame.holdsAround(setup().runtime).includes(outer.hold), 'of other Locks').toBe(false);
  }, outer);
  expect(inside()).toEqual([false, false]);
});

test('a caller is inside of some hold in the function of one, until that or the hold is over', async () => {
  const { runtime, take } = setup();
  const inside = (): boolean => Frame.holdsAround(runtime).length > 0;
  const lease = (await take('a'))!;
  expect(inside(), 'of a lease without a function').toBe(false);
  let later: Promise<boolean> | undefined;
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  await new Frame(runtime, lease, EXCLUSIVE).run(async () => {
    expect(inside()).toBe(true);
    expect(Frame.holdsAround(setup().runtime), 'of other Locks').toEqual([]);
    later = over.then(inside);
    await lease.release();
    expect(inside(), 'which it has given back').toBe(false);
  }, lease);
  end();
  expect(await later, 'in work that its function left behind').toBe(false);
  expect(inside()).toBe(false);
});

test('the line of a key in use is kept, however many other keys there are, when one of its callers leaves', async () => {
  const { clock, runtime, take } = setup();
  const line = runtime.queue('key');
  for (let i = 0; i < 1_000; i++) runtime.queue(`other ${i}`);
  const first = await take('key', { handOff: false });
  const second = take('key', { handOff: false });
  await first!.release();
  await clock.advance(10);
  expect((await second)!.held).toBe(true);
  expect(runtime.queue('key')).toBe(line);
});

test('closing ends the waits of memos, each with an error that names its key', async () => {
  const { clock, runtime } = setup();
  const told: unknown[] = [];
  runtime.memos = { close: (errorOf) => void told.push(errorOf('memo')) };
  const closing = runtime.close();
  await clock.advance(1);
  await closing;
  expect(told).toMatchObject([{ code: 'LOCK_CLOSED', key: 'memo', backend: 'memory' }]);
});
