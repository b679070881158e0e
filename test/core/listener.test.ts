import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend, Claim, Grant, StoredValue, Wake } from '../../src/core/contract/backend.ts';
import { Listener } from '../../src/core/engine/listener.ts';
import { claim } from './claim.ts';

const GRANT: Grant = { granted: true, token: 7n, validFor: 1_000 };
const ours = claim('ours');

/** A listener to an engine whose watches are made by `watch`; which of them were ended, and whether it rang. */
function setup(watch: (wake: Wake) => unknown, wakes: Backend['traits']['wakes'] = 'watch') {
  const clock = manualClock();
  const engine = memory({ clock });
  const wake: Wake[] = [];
  const watches: string[] = [];
  const ages: (number | undefined)[] = [];
  const backend = around(engine, {
    traits: { ...engine.traits, wakes },
    watch: ((of: { id: string }, tell: Wake, age?: number) => {
      watches.push(of.id);
      ages.push(age);
      wake.push(tell);
      return watch(tell);
    }) as never,
  });
  const listener = new Listener(backend, clock);
  /** Within a ms, and never by its timer. */
  const rings = async (): Promise<boolean> => {
    let over = false;
    const sleep = listener.sleep(1_000).then(() => {
      over = true;
    });
    await clock.advance(1);
    const rang = over;
    if (!rang) listener.wake();
    await sleep;
    return rang;
  };
  return { clock, listener, wake, watches, ages, rings };
}
const ended: string[] = [];
const watchOf = (name: string): AsyncDisposable => ({
  async [Symbol.asyncDispose]() {
    ended.push(name);
  },
});

describe('a watch that is there at once', () => {
  test('rings where it came after the attempt, so that the claim is attempted once more', async () => {
    const { listener, rings } = setup(() => watchOf('a'));
    expect(listener.arm(ours)).toBe(true);
    expect(await rings()).toBe(true);
  });

  test('rings not where the engine keeps a mailbox, which hears what came before', async () => {
    const { listener, rings } = setup(() => watchOf('a'), 'buffered');
    expect(listener.arm(ours)).toBe(true);
    expect(await rings()).toBe(false);
  });

  test('is made once', () => {
    const { listener, watches } = setup(() => watchOf('a'));
    expect([listener.arm(ours), listener.arm(ours)]).toEqual([true, true]);
    expect(watches).toEqual(['ours']);
  });
});

test('a watch is told how long ago the last attempt was sent, if there was any', async () => {
  const { clock, listener, ages } = setup(() => undefined);
  await clock.advance(500);
  listener.arm(ours, clock.now() - 300);
  listener.arm(ours);
  expect(ages).toEqual([300, undefined]);
});

describe('a watch that takes its time', () => {
  test('is not there before it is, is asked for once, and rings then', async () => {
    const { promise, resolve } = Promise.withResolvers<AsyncDisposable>();
    const { listener, watches, rings } = setup(() => promise);
    expect([listener.arm(ours), listener.arm(ours)]).toEqual([false, false]);
    expect(watches).toHaveLength(1);
    expect(await rings(), 'before').toBe(false);
    resolve(watchOf('a'));
    expect(await rings()).toBe(true);
    expect(listener.arm(ours)).toBe(true);
  });

  test('is ended where nobody waits for it any more, also in the name of another claim', async () => {
    const { promise, resolve } = Promise.withResolvers<AsyncDisposable>();
    const late = [promise, watchOf('second')];
    const { listener, rings } = setup(() => late.shift());
    listener.arm(ours);
    listener.disarm();
    expect(listener.arm(claim('next'))).toBe(true);
    await rings();
    ended.length = 0;
    resolve(watchOf('late'));
    expect(await rings(), 'of a claim that has left').toBe(false);
    expect(ended).toEqual(['late']);
    listener.disarm();
    expect(ended).toEqual(['late', 'second']);
  });

  test('and fails is asked for again; a failure that comes late changes nothing', async () => {
    const { promise, reject } = Promise.withResolvers<AsyncDisposable>();
    const answers = [Promise.reject(new Error('not now')), promise, watchOf('third')];
    const { clock, listener, watches } = setup(() => answers.shift());
    expect(listener.arm(ours)).toBe(false);
    await clock.advance(1);
    expect(listener.arm(ours), 'the second').toBe(false);
    listener.disarm();
    const next = claim('next');
    expect(listener.arm(next)).toBe(true);
    reject(new Error('too late'));
    await clock.advance(1);
    expect(listener.arm(next), 'is still there').toBe(true);
    expect(watches).toEqual(['ours', 'ours', 'next']);
  });
});

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('no watch');
    },
  ],
  ['gives nothing', () => undefined],
  ['gives null', () => null],
])('a backend that %s has no watch, and is asked again', (_, watch) => {
  const { listener, watches } = setup(watch);
  expect([listener.arm(ours), listener.arm(ours)]).toEqual([false, false]);
  expect(watches).toHaveLength(2);
  listener.disarm();
});

test('a backend that has no watches needs none', () => {
  const clock = manualClock();
  const listener = new Listener(around(memory({ clock }), { watch: undefined }), clock);
  expect(listener.arm(ours)).toBe(false);
});

describe('mail', () => {
  test('is the first grant that comes, and rings', async () => {
    const { listener, wake, rings } = setup(() => watchOf('a'), 'buffered');
    listener.arm(ours);
    wake[0]!(GRANT);
    wake[0]!({ ...GRANT, token: 8n });
    expect(listener.grant).toBe(GRANT);
    expect(await rings()).toBe(true);
  });

  test('is forgotten when it is in doubt, and from then on it only rings, until the next claim', async () => {
    const { listener, wake, rings } = setup(() => watchOf('a'), 'buffered');
    listener.arm(ours);
    wake[0]!(GRANT);
    await rings();
    listener.ignoreGrants();
    expect(listener.grant).toBeUndefined();
    wake[0]!(GRANT);
    expect(listener.grant).toBeUndefined();
    expect(await rings()).toBe(true);
    listener.disarm();
    listener.arm(ours);
    wake[1]!(GRANT);
    expect(listener.grant, 'of the next claim').toBe(GRANT);
  });

  test.each([
    'before',
    'after',
  ])('that comes %s a wake without a grant does not count: the hold may have been evicted', (when) => {
    const { listener, wake } = setup(() => watchOf('a'), 'buffered');
    listener.arm(ours);
    if (when === 'before') wake[0]!(GRANT);
    wake[0]!();
    if (when === 'after') wake[0]!(GRANT);
    expect(listener.grant).toBeUndefined();
  });

  test('for a claim that has left is no longer heard', async () => {
    const { listener, wake, rings } = setup(() => watchOf('a'), 'buffered');
    listener.arm(ours);
    wake[0]!(GRANT);
    await rings();
    listener.disarm();
    expect(listener.grant).toBeUndefined();
    wake[0]!(GRANT);
    expect(listener.grant).toBeUndefined();
    expect(await rings()).toBe(false);
  });
});

describe('words', () => {
  const words: StoredValue = { text: 'done', token: 1n, age: 0, validFor: 1_000 };
  const asks = (age: number): Claim => claim('asks', { accepts: { age, mark: '-', counts: 0 } });

  test('are kept for a claim that any words answer, the first of them, and ring', async () => {
    const { listener, wake, rings } = setup(() => watchOf('a'), 'buffered');
    listener.arm(asks(Number.POSITIVE_INFINITY));
    wake[0]!(undefined, words);
    wake[0]!(undefined, { ...words, text: 'later' });
    expect(listener.answer?.value).toBe(words);
    expect(await rings()).toBe(true);
    listener.disarm();
    expect(listener.answer?.value, 'of the next claim').toBeUndefined();
  });

  test.each<[string, Claim]>([
    ['wants only those of a certain age', asks(5_000)],
    ['asked for none', ours],
  ])('only ring for a claim that %s', async (_, of) => {
    const { listener, wake, rings } = setup(() => watchOf('a'), 'buffered');
    listener.arm(of);
    wake[0]!(undefined, words);
    expect(listener.answer?.value).toBeUndefined();
    expect(await rings()).toBe(true);
  });

  test('may be there of which no mail tells, so a claim that they answer takes no grant by mail', async () => {
    const { listener, wake, rings } = setup(() => watchOf('a'), 'buffered');
    listener.arm(asks(5_000));
    wake[0]!(GRANT);
    expect(listener.grant).toBeUndefined();
    expect(await rings()).toBe(true);
  });
});
