import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { type ManualClock, manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend, Hints } from '../../src/core/contract/backend.ts';
import { createLocks, type Lease, type LockOptions } from '../../src/index.ts';
import { heard } from './heard.ts';

function setup(calls: Partial<Backend> = {}) {
  const clock = manualClock();
  const engine = memory({ clock });
  return { clock, locks: createLocks(around(engine, calls), { clock }) };
}
const REASON = { reason: 'the worker hangs' };
const TOLD = 'it was released by force: "the worker hangs" (by an operator)';

test.each<[Partial<Backend>, string]>([
  [{ evict: undefined }, '"memory" cannot evict a holder'],
  [{ inspect: undefined }, '"memory" cannot list its locks'],
])('an engine that cannot is not asked to: %j', async (calls, message) => {
  const { locks } = setup(calls);
  await expect(locks.forceRelease('key', REASON)).rejects.toMatchObject({
    code: 'LOCK_UNSUPPORTED',
    backend: 'memory',
    message: expect.stringContaining(message),
  });
});

test.each<[string, unknown, unknown, string]>([
  ['no key', '', REASON, 'LOCK_INVALID'],
  ['no reason', 'key', {}, 'LOCK_INVALID'],
  ['no options', 'key', undefined, 'LOCK_INVALID'],
  ['an empty reason', 'key', { reason: '' }, 'LOCK_INVALID'],
  ['a token that is a number', 'key', { ...REASON, token: 1 }, 'LOCK_INVALID'],
  ['a misspelt token', 'key', { ...REASON, tokne: 1n }, 'LOCK_INVALID'],
])('with %s nobody is evicted', async (_, key, options, code) => {
  const { locks } = setup();
  const lease = await locks.mutex('key').acquire();
  await expect(locks.forceRelease(key as string, options as never)).rejects.toMatchObject({ code });
  expect(lease.held).toBe(true);
});

test('holders of this very key are evicted, or the one with the token, and that is told', async () => {
  using events = heard('forced');
  const { clock, locks } = setup();
  const readers = await Promise.all([1, 2].map(() => locks.rwLock('key').read.acquire()));
  const other = await locks.mutex('key2').acquire();
  const tokens: bigint[] = [];
  for await (const { token, key } of locks.inspect('key')) if (key === 'key') tokens.push(token);
  expect(await locks.forceRelease('key', { ...REASON, token: tokens[0]! })).toBe(1);
  expect(await locks.forceRelease('key', REASON)).toBe(1);
  expect(await locks.forceRelease('key', REASON)).toBe(0);
  const told = { version: 1, locks: locks.number, backend: 'memory', key: 'key', ...REASON };
  expect(events.events).toEqual([
    { ...told, evicted: 1 },
    { ...told, evicted: 1 },
    { ...told, evicted: 0 },
  ]);
  await clock.advance(30_000);
  expect(readers.map(({ held }) => held)).toEqual([false, false]);
  expect(other.held).toBe(true);
});

test('one key is asked for by its name', async () => {
  const asked: unknown[] = [];
  const { clock } = setup();
  const engine = memory({ clock });
  const backend = around(engine, {
    inspect(prefix, listing) {
      asked.push([prefix, listing?.exact]);
      return engine.inspect!(prefix, listing);
    },
  });
  await createLocks(backend, { clock }).forceRelease('key', REASON);
  expect(asked).toEqual([['key', true]]);
});

/** A holder that renews every second, and an operator who may evict it. `calls` stand for those of the operator's engine. */
function evicted(notes: Partial<Hints> = {}, options: LockOptions = {}, calls: Partial<Backend> = {}) {
  const clock = manualClock();
  const engine = memory({ clock });
  const own = engine.hints!;
  const written = new Set<string>();
  const write: Hints['write'] = (name, text, ttl) => {
    written.add(name);
    return own.write(name, text, ttl);
  };
  const backend = around(engine, { hints: { read: (name) => own.read(name), write, ...notes } });
  const locks = createLocks(backend, { clock, ttl: 3_000, ...options });
  const operator = createLocks(around(backend, calls), { clock, label: 'an operator' });
  const force = () => operator.forceRelease('key', REASON);
  const left = () => Promise.all([...written].map((name) => own.read(name)));
  return { clock, locks, force, left };
}
const never = () => new Promise<never>(() => {});

test('the evicted holder is told why and by whom, in its error and in the one event of the loss', async () => {
  using events = heard('lost');
  const { clock, locks, force, left } = evicted();
  const lease = await locks.mutex('key').acquire();
  const { signal } = lease;
  expect(await force()).toBe(1);
  expect(lease.held, 'until it asks').toBe(true);
  expect(await left(), 'notes').toHaveLength(1);
  await clock.advance(1_000);
  expect(signal.reason.message).toContain(TOLD);
  expect(() => lease.assertHeld()).toThrow(signal.reason);
  expect(events.events).toMatchObject([{ ...REASON, token: lease.token, error: signal.reason }]);
  expect(await left(), 'what is left of the note').toEqual([undefined]);
});

test('a hold that has passed on in its process finds the note of its token', async () => {
  const { clock, locks, force } = evicted();
  const mutex = locks.mutex('key');
  const first = await mutex.acquire();
  const next = mutex.acquire();
  await first.release();
  const { signal } = await next;
  await force();
  await clock.advance(1_000);
  expect(signal.reason.message).toContain(TOLD);
});

test('an extension that meets the eviction fails with it', async () => {
  const { locks, force } = evicted();
  const lease = await locks.mutex('key').acquire();
  await force();
  await expect(lease.extend(5_000)).rejects.toMatchObject({
    code: 'LOCK_LOST',
    message: expect.stringContaining(TOLD),
  });
});

test.each<[string, LockOptions, number]>([
  ['a quarter of a second', {}, 250],
  ['what is left before its notice', { ttl: 600, notice: 400 }, 96],
])('the hold is over at once, and its holder is told within %s, though nobody can read the note', async (_, options, within) => {
  using events = heard('lost');
  const { clock, locks, force } = evicted({ read: never }, options);
  const lease = await locks.mutex('key').acquire();
  const { signal } = lease;
  await force();
  while (lease.held) await clock.advance(1);
  const since = clock.now();
  expect(() => lease.assertHeld(), 'for a caller that looks').toThrow('the engine no longer has it');
  expect(signal.aborted).toBe(false);
  while (!signal.aborted) await clock.advance(1);
  expect(clock.now() - since).toBe(within);
  expect(events.events).toMatchObject([{ error: signal.reason }]);
  expect(signal.reason.message).toContain('the engine no longer has it');
});

test.each<[string, Hints['write']]>([
  ['are refused', () => Promise.reject(new Error('no right'))],
  ['hang', never],
])('a holder is evicted though notes %s', async (_, write) => {
  const { clock, locks, force } = evicted({ write });
  const lease = await locks.mutex('key').acquire();
  const done = force();
  await clock.advance(1_000);
  expect(await done).toBe(1);
  await clock.advance(1_000);
  expect(lease.signal.reason.message).toContain('the engine no longer has it');
});

test('a holder that left before it was evicted leaves no note', async () => {
  const { locks, force, left } = evicted({}, {}, { evict: async () => false });
  await locks.mutex('key').acquire();
  expect(await force()).toBe(0);
  expect(await left()).toEqual([undefined]);
});

test('the note is there before the holder is evicted, since a session tells it of that at once', async () => {
  const { promise: written, resolve: write } = Promise.withResolvers<void>();
  const { clock, locks, force } = evicted({ write: () => written });
  const lease = await locks.mutex('key').acquire({ renew: false });
  const done = force();
  await clock.advance(500);
  await expect(lease.extend(5_000), 'while the note is written').resolves.toBeUndefined();
  write();
  expect(await done).toBe(1);
});

test('who evicts nobody has taken the note back when it is told so', async () => {
  const removed: string[] = [];
  const write: Hints['write'] = async (name, text) => {
    if (text !== undefined) return;
    await new Promise((answered) => setImmediate(answered));
    removed.push(name);
  };
  const { locks, force } = evicted({ write }, {}, { evict: async () => false });
  await locks.mutex('key').acquire();
  expect([await force(), removed.length]).toEqual([0, 1]);
});

test('the note is there for as long as the holder may take to ask', async () => {
  const { clock, locks, force } = evicted({}, { renew: false });
  const lease = await locks.mutex('key').acquire();
  await force();
  await clock.advance(2_600);
  await expect(lease.extend(5_000)).rejects.toMatchObject({ message: expect.stringContaining(TOLD) });
});

test('the note is gone after an hour and a second, however long the hold would have lasted', async () => {
  const { clock, locks, force, left } = evicted({ read: never }, { ttl: '10h', renew: false });
  await locks.mutex('key').acquire();
  await force();
  await clock.advance(3_600_999);
  expect(await left(), 'before').toEqual([expect.any(String)]);
  await clock.advance(1);
  expect(await left(), 'after').toEqual([undefined]);
});

test('a note has at most 329 characters, whatever the reason and the label are', async () => {
  const notes: (string | undefined)[] = [];
  const { locks } = evicted({ write: async (_, text) => void notes.push(text) }, { label: '\u0007'.repeat(128) });
  await locks.mutex('key').acquire();
  await locks.forceRelease('key', { reason: '\u0007'.repeat(300) });
  expect(notes[0]!.length).toBe(329);
});

test('each holder is told the reason of its own eviction', async () => {
  const { clock, locks } = evicted();
  const leases = [
    await locks.rwLock('a').read.acquire(),
    await locks.rwLock('a').read.acquire(),
    await locks.mutex('b').acquire(),
  ];
  const signals = leases.map(({ signal }) => signal);
  const reasons = ['one', 'two', 'three'].values();
  for await (const { key, token } of locks.inspect(''))
    await locks.forceRelease(key, { reason: reasons.next().value!, token });
  await clock.advance(1_000);
  expect(signals.map(({ reason }) => /"(\w+)" \(by/.exec(reason.message)?.[1])).toEqual(['one', 'two', 'three']);
});

test('who closes waits for a note that is being written', async () => {
  const order: string[] = [];
  const { promise: written, resolve: write } = Promise.withResolvers<void>();
  const { clock, locks } = evicted({
    write: (_, text) => written.then(() => void (text === undefined || order.push('written'))),
  });
  await locks.mutex('key').acquire();
  const forced = locks.forceRelease('key', REASON);
  await clock.advance(1);
  const closed = locks.close().then(() => order.push('closed'));
  await clock.advance(100);
  write();
  await Promise.allSettled([closed, forced]);
  expect(order).toEqual(['written', 'closed']);
});

test.each([
  [200, 'x'.repeat(200)],
  [201, `${'x'.repeat(199)}…`],
])('of a reason of %i characters the holder is told up to 200', async (length, told) => {
  const { clock, locks } = evicted();
  const { signal } = await locks.mutex('key').acquire();
  await locks.forceRelease('key', { reason: 'x'.repeat(length) });
  await clock.advance(1_000);
  expect(signal.reason.message).toContain(`"${told}"`);
});

test('a forced release ends a hold of an engine that keeps a hint that is no text', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const hints: Hints = { read: async () => null as never, write: async () => {} };
  const lease = await createLocks(around(engine, { hints }), { clock }).mutex('key').acquire();
  await createLocks(engine, { clock }).forceRelease('key', REASON);
  await clock.advance(15_000);
  expect([lease.held, lease.signal.aborted]).toEqual([false, true]);
  expect(lease.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
});

/** A process that reads the notifications of its engine only at a call of `read`, and others on the same engine, of which one holds the key. */
async function slowReader(calls: (engine: Backend) => Partial<Backend> = () => ({})) {
  const clock = manualClock();
  const engine = memory({ clock });
  const unread: (() => void)[] = [];
  const backend = around(engine, {
    traits: { ...engine.traits, wakes: 'buffered' },
    watch: (claim, wake, age) => engine.watch!(claim, (...news) => void unread.push(() => wake(...news)), age),
    ...calls(engine),
  });
  const [locks, others] = [createLocks(backend, { clock }), createLocks(engine, { clock })];
  const theirs = await others.mutex('key').acquire();
  const waiting = locks.mutex('key').acquire({ ttl: 30_000, renew: false });
  await clock.advance(10);
  const read = (): void => {
    for (const message of unread.splice(0)) message();
  };
  return { clock, others, theirs, waiting, read };
}

/**
 * Expects that a waiter which was evicted is granted after the holder that came next, and not beside it.
 * @param read lets the process of the waiter read its notifications
 */
async function expectAfter(clock: ManualClock, waiting: Promise<Lease>, next: Lease, read = () => {}): Promise<void> {
  let both: boolean | undefined;
  void waiting.then(({ held }) => {
    both = held && next.held;
  });
  await clock.advance(100);
  expect(both, 'two hold at once').toBeUndefined();
  await next.release();
  read();
  await clock.advance(5_000);
  expect((await waiting).token > next.token).toBe(true);
}

test('a waiter that was admitted and evicted before it read either message is no holder', async () => {
  const { clock, others, theirs, waiting, read } = await slowReader();
  await theirs.release();
  expect(await others.forceRelease('key', REASON), 'the waiter that has not read its grant is evicted').toBe(1);
  const next = await others.mutex('key').acquire({ ttl: 60_000 });
  read();
  await expectAfter(clock, waiting, next, read);
});

test('a waiter that is evicted while the answer with its grant is on the way is no holder', async () => {
  const answer = Promise.withResolvers<void>();
  let granted = 0;
  const { clock, others, theirs, waiting, read } = await slowReader((engine) => ({
    async attempt(claim) {
      const attempt = await engine.attempt(claim);
      if (attempt.granted && ++granted === 1) await answer.promise;
      return attempt;
    },
  }));
  await theirs.release();
  await clock.advance(2_500);
  expect(granted, 'its sign of life is answered with the grant').toBe(1);
  await others.forceRelease('key', REASON);
  const next = await others.mutex('key').acquire({ ttl: 60_000 });
  read();
  answer.resolve();
  await expectAfter(clock, waiting, next);
});

test('a waiter that is evicted while the answer to the release before it brings its grant is no holder', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const answer = Promise.withResolvers<void>();
  const backend = around(engine, {
    traits: { ...engine.traits, wakes: 'buffered' },
    async release(handle, next) {
      const released = await engine.release(handle, next);
      if (next) await answer.promise;
      return released;
    },
  });
  const [locks, others] = [createLocks(backend, { clock }), createLocks(engine, { clock })];
  const first = await locks.mutex('key').acquire({ handOff: false });
  const waiting = locks.mutex('key').acquire({ handOff: false, renew: false });
  void first.release();
  await clock.advance(10);
  expect(await others.forceRelease('key', REASON), 'the waiter is evicted').toBe(1);
  const next = await others.mutex('key').acquire();
  answer.resolve();
  await expectAfter(clock, waiting, next);
});
