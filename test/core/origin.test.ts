import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LOOKALIKES } from '../../products/testing/laws/keys.ts';
import { memory } from '../../src/backends/memory.ts';
import { labelFor, labelParts, type Origin } from '../../src/core/contract/origin.ts';
import { createLocks, type QueueEntry } from '../../src/index.ts';
import { until } from '../kit/wait.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const names = Object.values(LOOKALIKES)
  .flat()
  .filter((name) => name.length < 20);
const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const key = fc.oneof(fc.constantFrom(...names), fc.string({ minLength: 1, maxLength: 9 }));
const number = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const origin = fc.record({
  process: fc.stringMatching(/^[0-9a-z]{8}$/),
  claim: number,
  inside: fc.array(fc.record({ claim: number, key: fc.option(key, { nil: undefined }) }), {
    maxLength: 3,
  }),
  cut: fc.boolean(),
  detects: fc.option(number, { nil: undefined }),
  traceparent: fc.constantFrom(undefined, TRACE),
});
const write = labelFor;

test('a label and whose the claim is come back as they went, whatever is in the label and the keys', () => {
  const parts = fc.oneof(text, fc.constantFrom('~', '~aaaaaaaa.1', ',1=k', ';d1', '+', '~aaaaaaaa.1,2=y'));
  const label = fc.array(parts, { maxLength: 4 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(label, origin, (label, origin) => {
      const back = labelParts(write(label, origin as Origin));
      expect(back.label).toBe(label);
      expect({ detects: undefined, traceparent: undefined, ...back.origin }).toEqual(origin);
    }),
    { numRuns: 1_000 },
  );
});

test('a label of an older version or another program stays as it is, and nobody is named', () => {
  fc.assert(
    fc.property(text, (text) => {
      const label = text.replaceAll('~', '-');
      expect(labelParts(label)).toEqual({ label });
    }),
  );
  for (const label of [
    '',
    'host:1',
    '~',
    'a~b',
    'a~b.1',
    'a~AAAAAAAA.1',
    'a~aaaaaaaa.',
    'a~aaaaaaaa.1,2=%',
    'x~aaaaaaaa.1;t00',
  ])
    expect(labelParts(label)).toEqual({ label });
});

test('a label, its claim and all keys around it stay within what a backend has to keep', () => {
  const key = LOOKALIKES['the longest there may be']![5]!;
  const inside = Array.from({ length: 16 }, (_, i) => ({ claim: Number.MAX_SAFE_INTEGER - i, key }));
  const label = '漢'.repeat(128);
  const detects = Number.MAX_SAFE_INTEGER;
  const longest = write(label, { process: 'zzzzzzzz', claim: detects, inside, cut: true, detects, traceparent: TRACE });
  expect(Buffer.byteLength(longest)).toBeLessThanOrEqual(896);
  expect(labelParts(longest).origin).toMatchObject({ inside: inside.map(({ claim }) => ({ claim })), cut: true });
});

async function standings(locks: ReturnType<typeof createLocks>): Promise<QueueEntry[]> {
  const seen: QueueEntry[] = [];
  for await (const standing of locks.inspect()) seen.push(standing);
  return seen;
}

/** Somebody else holds `last`; what `ask` does waits for it. */
async function waiterOf(ask: (locks: ReturnType<typeof createLocks>, signal: AbortSignal) => Promise<unknown>) {
  const engine = memory();
  await using others = createLocks(engine);
  await using locks = createLocks(engine);
  await others.mutex('last').acquire();
  const ended = new AbortController();
  const asked = ask(locks, ended.signal).catch(() => {});
  const waits = ({ key, held }: QueueEntry): boolean => key === 'last' && !held;
  await until('it waits', async () => (await standings(locks)).some(waits));
  const seen = await standings(locks);
  ended.abort();
  await asked;
  return { waiter: seen.find(waits)!, seen };
}

const insideOf = ({ origin }: QueueEntry): unknown[] => origin!.inside.map(({ key }) => key);

test('a waiter names the holds around it, the innermost first, and each once', async () => {
  const { waiter, seen } = await waiterOf((locks, signal) =>
    locks
      .mutex('a')
      .run(() =>
        locks
          .rwLock('b')
          .read.run(() => locks.mutex('a').run(() => locks.mutex('last').run(() => {}, { signal, label: 'w~x' }))),
      ),
  );
  expect(waiter.label).toBe('w~x');
  expect(insideOf(waiter)).toEqual(['a', 'b']);
  for (const { claim, key } of waiter.origin!.inside) {
    const hold = seen.find((standing) => standing.key === key)!.origin!;
    expect(hold, `the hold of ${key}`).toMatchObject({ process: waiter.origin!.process, claim });
  }
});

test('what all() has already is around the part it waits for', async () => {
  const { waiter } = await waiterOf((locks, signal) =>
    locks.mutex('z').run(() => locks.all(['b', 'last', 'a'], { signal }).acquire()),
  );
  expect(insideOf(waiter)).toEqual(['b', 'a', 'z']);
});

test('what all() has already is around the part it waits for, also where nothing else is', async () => {
  const { waiter } = await waiterOf((locks, signal) => locks.all(['last', 'a'], { signal }).acquire());
  expect(insideOf(waiter)).toEqual(['a']);
});

test('a waiter that is inside of nothing does not say that it looks for deadlocks', async () => {
  const { waiter } = await waiterOf((locks, signal) => locks.mutex('last').acquire({ signal, detect: true }));
  expect(waiter.origin).not.toHaveProperty('detects');
});

test('a lease of acquire() is around nobody, nor is a frame that is over', async () => {
  const { waiter } = await waiterOf(async (locks, signal) => {
    await locks.mutex('a').acquire();
    const { promise: later, resolve: go } = Promise.withResolvers<void>();
    const detached = await locks.mutex('b').run(() => ({
      wait: later.then(() => locks.mutex('last').acquire({ signal })),
    }));
    go();
    await detached.wait;
  });
  expect(waiter.origin).toMatchObject({ inside: [], cut: false });
});

test('of more than 16 holds around it a waiter names 16, and says that there are more', async () => {
  const nested = (locks: ReturnType<typeof createLocks>, depth: number, signal: AbortSignal): Promise<unknown> =>
    depth === 0
      ? locks.mutex('last').acquire({ signal })
      : locks.mutex(`${depth}`).run(() => nested(locks, depth - 1, signal));
  const whole = (await waiterOf((locks, signal) => nested(locks, 16, signal))).waiter;
  expect([whole.origin!.inside.length, whole.origin!.cut]).toEqual([16, false]);
  const cut = (await waiterOf((locks, signal) => nested(locks, 17, signal))).waiter;
  expect([insideOf(cut).length, insideOf(cut)[0], cut.origin!.cut]).toEqual([16, '1', true]);
});

test('a hold that passed from hand to hand keeps the number that those inside it name', async () => {
  const { waiter, seen } = await waiterOf(async (locks, signal) => {
    const first = await locks.mutex('a').acquire();
    const second = locks.mutex('a').run(() => locks.mutex('last').acquire({ signal }));
    await first.release();
    await second;
  });
  const hold = seen.find(({ key }) => key === 'a')!;
  expect(waiter.origin!.inside).toEqual([{ claim: hold.origin!.claim, key: 'a' }]);
});

test('nobody inherits a place in line that tells of holds it is not inside of', async () => {
  const engine = memory();
  await using others = createLocks(engine);
  await using locks = createLocks(engine);
  await others.mutex('last').acquire();
  const ended = new AbortController();
  const first = locks.mutex('a').run(() =>
    locks
      .mutex('last')
      .acquire({ signal: ended.signal })
      .catch(() => {}),
  );
  const waiters = async () => (await standings(locks)).filter(({ key, held }) => key === 'last' && !held);
  await until('the first waits', async () => (await waiters()).length === 1);
  const second = locks
    .mutex('last')
    .acquire()
    .catch(() => {});
  ended.abort();
  await first;
  await until('the second waits', async () => (await waiters()).some(({ origin }) => origin!.inside.length === 0));
  expect((await waiters()).map(insideOf)).toEqual([[]]);
  await locks.close();
  await second;
});

test('the tokenCount of a request is told with its claim', async () => {
  const told = labelFor('me', { process: 'abcdefgh', claim: 5, inside: [], cut: false, traceparent: TRACE });
  expect(labelParts(told)).toMatchObject({ label: 'me', origin: { traceparent: TRACE } });
  expect(labelFor('me', { process: 'abcdefgh', claim: 5, inside: [], cut: false, traceparent: 'none' })).toBe(
    'me~abcdefgh.5',
  );
});

test('all keys that are told take 320 characters at most; one that does not fit is left out, and those behind it are not', () => {
  const told = (...lengths: number[]) => {
    const inside = lengths.map((length, claim) => ({ claim, key: 'k'.repeat(length) }));
    return labelParts(labelFor('', { process: 'aaaaaaaa', claim: 1, inside, cut: false })).origin!.inside.map(
      ({ key }) => key?.length,
    );
  };
  expect(told(319)).toEqual([319]);
  expect(told(320)).toEqual([undefined]);
  expect(told(200, 200, 100)).toEqual([200, undefined, 100]);
});

test('a label without a mark has no origin, though it looks like one', () => {
  expect(labelParts('aaaaaaaa.1')).toEqual({ label: 'aaaaaaaa.1' });
});

test('when a waiter that looks for deadlocks began is told in whole milliseconds, and not too late', () => {
  const { origin } = labelParts(labelFor('', { process: 'aaaaaaaa', claim: 1, inside: [], cut: false, detects: 5.9 }));
  expect(origin?.detects).toBe(5);
});
