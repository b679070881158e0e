import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type LockError, type LockOptions } from '../../src/index.ts';

const SHORT: LockOptions = { ttl: 1_000, renew: false };
const throws = { onLoss: 'throw' } as const;

function scene(defaults: LockOptions = {}) {
  const clock = manualClock();
  return { clock, locks: createLocks(memory({ clock }), { clock, ...SHORT, ...defaults }) };
}

const errorOf = (run: Promise<unknown>): Promise<LockError> =>
  run.then(
    () => expect.fail('it gave a result'),
    (error) => error as LockError,
  );

test.each<[string, LockOptions, LockOptions | undefined, LockOptions | undefined]>([
  ['all locks', throws, undefined, undefined],
  ['a lock', {}, throws, undefined],
  ['a call', { onLoss: 'tell' }, undefined, throws],
])("onLoss: 'throw' of %s rejects when the lease was lost while the work ran", async (_, all, lock, call) => {
  const { clock, locks } = scene(all);
  const run = locks.mutex('key', lock).run(async ({ signal }) => {
    await clock.advance(1_000);
    expect(signal.aborted).toBe(true);
    return 'money sent';
  }, call);
  const error = await errorOf(run);
  expect(error).toMatchObject({
    code: 'LOCK_LOST',
    key: 'key',
    backend: 'memory',
    outcome: { status: 'fulfilled', value: 'money sent' },
    cause: { code: 'LOCK_LOST' },
  });
  expect(error.message).toContain(
    'the lock of "key" on memory was lost while its work ran, which ended all the same, with a result. Look',
  );
});

test("onLoss: 'throw' keeps the error of work that lost its lease beside the loss", async () => {
  const { clock, locks } = scene(throws);
  const failure = new Error('card refused');
  const run = locks.mutex('key').run(async () => {
    await clock.advance(1_000);
    throw failure;
  });
  const error = await errorOf(run);
  expect(error).toMatchObject({ code: 'LOCK_LOST', outcome: { status: 'rejected', reason: failure } });
  expect(error.message).toContain('with an error: card refused. Look');
});

test("onLoss: 'throw' counts a loss from when the work is told of it, which is before the deadline", async () => {
  const clock = manualClock();
  const mute = around(memory({ clock }), { renew: () => Promise.reject(new Error('away')) });
  const locks = createLocks(mute, { clock, ttl: 5_000, notice: 2_000, ...throws });
  const run = locks.mutex('key').run(async (lease) => {
    await clock.advance(3_500);
    expect([lease.signal.aborted, lease.held]).toEqual([true, true]);
    return 'money sent';
  });
  expect(await errorOf(run)).toMatchObject({ code: 'LOCK_LOST', key: 'key', outcome: { value: 'money sent' } });
});

test("onLoss: 'throw' counts a deadline that passed before any timer could tell of it", async () => {
  const clock = manualClock();
  const locks = createLocks(memory({ clock }), { clock, ...SHORT, ...throws });
  const run = locks.mutex('key').run(({ signal }) => {
    clock.suspend(60_000);
    expect(signal.aborted).toBe(false);
  });
  expect(await errorOf(run)).toMatchObject({ code: 'LOCK_LOST' });
});

test.each<[string, (locks: ReturnType<typeof createLocks>, work: () => Promise<string>) => Promise<string>]>([
  ['all()', (locks, work) => locks.all(['a', 'b'], throws).run(work)],
  ['a reader', (locks, work) => locks.rwLock('a').read.run(work, throws)],
  ['a permit', (locks, work) => locks.semaphore('a', { permits: 2, ...throws }).run(work)],
  ['a run inside another', (locks, work) => locks.mutex('a').run(() => locks.mutex('a').run(work, throws))],
])("onLoss: 'throw' goes for %s", async (_, run) => {
  const { clock, locks } = scene();
  const error = await errorOf(run(locks, () => clock.advance(1_000).then(() => 'done')));
  expect(error).toMatchObject({ code: 'LOCK_LOST', outcome: { value: 'done' } });
});

test("onLoss: 'throw' gives the result or error of work that kept its lease, or gave it back itself", async () => {
  const { clock, locks } = scene(throws);
  const lock = locks.mutex('key');
  expect(await lock.run(() => 'kept')).toBe('kept');
  await expect(lock.run(() => Promise.reject(new Error('own')))).rejects.toThrow('own');
  const early = lock.run(async (lease) => {
    await lease.release();
    await clock.advance(1_000);
    return 'given back';
  });
  expect(await early).toBe('given back');
});

test('unless asked to throw, run gives what its function gave, also after a loss', async () => {
  const { clock, locks } = scene();
  const run = locks.mutex('key').run(async () => {
    await clock.advance(1_000);
    return 'told by the signal';
  });
  expect(await run).toBe('told by the signal');
});

test('any other value is refused', () => {
  const { locks } = scene();
  expect(() => locks.mutex('key', { onLoss: 'reject' as never })).toThrow(
    'onLoss is "reject"; it must be "tell" or "throw"',
  );
});
