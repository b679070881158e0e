/** What a run leaves, for how long, and what its caller and the others are told of that. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { LockRuntime } from '../../src/core/queue/runtime.ts';
import { createLocks, LockError, type MemoOptions } from '../../src/index.ts';
import { forOthers } from '../../src/memo/outcome.ts';
import { sightOf } from '../../src/memo/state.ts';

function setup() {
  const clock = manualClock();
  const engine = memory({ clock });
  return { clock, engine, locks: createLocks(engine, { clock }) };
}

test('what is kept for nobody stays for a minute, so that those who wait may fetch it', async () => {
  const { clock, locks } = setup();
  const memo = locks.memo('key');
  await memo.run(() => 'made');
  const at = new Date(clock.epoch());
  expect(await memo.peek()).toMatchObject({ state: 'kept', at, until: new Date(at.getTime() + 60_000) });
});

test('a text of as many bytes as the engine takes is kept, and of one more it is not', async () => {
  const { engine, locks } = setup();
  const { maxBytes } = engine.traits.values!;
  const room = maxBytes - Buffer.byteLength('1 kept plain - 1 "é"');
  const [fits, long] = [room, room + 1].map((length, n) =>
    locks.memo(`key ${n}`, { keep: '1h' }).run(() => `é${'x'.repeat(length)}`),
  );
  expect(await fits).toMatchObject({ kept: true });
  const message = expect.stringContaining(`it has ${maxBytes + 1} bytes, and the engine takes ${maxBytes}`);
  await expect(long).rejects.toMatchObject({ code: 'LOCK_TOO_LARGE', message });
});

test.each([
  [1, 'LOCK_FAILED'],
  [0, 'LOCK_INVALID'],
])('an error may be kept for 1 ms, and not for none: %i', async (keep, code) => {
  const { clock, locks } = setup();
  const memo = locks.memo('key', { keep: '1h', keepError: () => keep });
  const [own, other] = [1, 2].map(() => memo.run(() => Promise.reject(new Error('its own'))));
  const told = expect(other).rejects.toMatchObject({ code });
  await expect(own).rejects.toThrow('its own');
  await clock.advance(10);
  await told;
});

const [refusal, loss] = ['LOCK_UNAVAILABLE', 'LOCK_LOST'].map((code) => new LockError(code as 'LOCK_LOST', code)) as [
  LockError,
  LockError,
];

test.each([
  ['stored', undefined, { kept: true }],
  ['gone', loss, { kept: false, error: loss }],
  ['unknown', undefined, { kept: 'unknown' }],
  ['unknown', loss, { kept: 'unknown', error: loss }],
  [{ refused: refusal }, loss, { kept: false, error: refusal }],
] as const)('a caller is told what others have of its value, and why it is not kept: %j', (became, lost, told) => {
  expect(forOthers(became, lost)).toEqual(told);
});

test('a run learns of a loss as long before as all locks do, or as its memo says', async () => {
  const clock = manualClock();
  const engine = around(memory({ clock }), { renew: () => Promise.reject(new Error('away')) });
  const locks = createLocks(engine, { clock, ttl: 5_000, notice: 2_000 });
  await locks.memo('loaded').run(() => 0);
  const told: string[] = [];
  const begin = (name: string, options: MemoOptions): void => {
    void locks.memo(name, options).run(({ signal }) => {
      signal.addEventListener('abort', () => told.push(name));
      return new Promise(() => {});
    });
  };
  begin('as all', {});
  begin('its own', { notice: 1_000 });
  await clock.advance(2_947);
  expect(told).toEqual([]);
  await clock.advance(2);
  expect(told).toEqual(['as all']);
  await clock.advance(998);
  expect(told).toEqual(['as all']);
  await clock.advance(2);
  expect(told).toEqual(['as all', 'its own']);
});

test('a key is seen in the state of what is left there, and else by the attempts that are counted', async () => {
  const { clock, engine, locks } = setup();
  const { engine: core } = new LockRuntime(engine, clock);
  const seen = (key: string, held = false) => sightOf(core, key, held);
  expect(await seen('nothing')).toBeUndefined();
  const counted = locks.memo('counted', { keep: '1h', attempts: 2, rest: 5_000 });
  const no = (): Promise<never> => Promise.reject(new Error('no'));
  await counted.run(no).catch(() => {});
  expect(await seen('counted')).toEqual({ state: 'absent', attempts: 1 });
  expect(await seen('counted', true)).toEqual({ state: 'running', attempts: 1 });
  await counted.run(no).catch(() => {});
  expect(await seen('counted')).toEqual({
    state: 'poisoned',
    attempts: 0,
    token: expect.any(BigInt),
    remaining: 5_000,
  });
  const { token } = await locks.memo('kept', { keep: 90_000 }).run(() => 1);
  await clock.advance(100);
  expect(await seen('kept')).toEqual({ state: 'kept', attempts: 0, token, since: 100, remaining: 89_900 });
  const { engine: without } = new LockRuntime(around(engine, { values: undefined }), clock);
  expect(await sightOf(without, 'kept', false)).toBeUndefined();
});

test('after its last attempt a memo rests for an hour, unless it says for how long', async () => {
  const { clock, locks } = setup();
  const memo = locks.memo('key', { keep: '1h', attempts: 1 });
  await memo.run(() => Promise.reject(new Error('no'))).catch(() => {});
  const until = new Date(clock.epoch() + 3_600_000);
  expect(await memo.peek()).toMatchObject({ state: 'poisoned', until });
});

test('a run by the claim of a caller that counts no attempts is not counted, and so is never the last attempt', async () => {
  const { clock, locks } = setup();
  const lease = await locks.mutex('key').acquire();
  const stop = new AbortController();
  const uncounted = locks.memo('key').run(() => 1, { signal: stop.signal });
  const counted = locks.memo('key', { attempts: 1 });
  const fails = counted.run(() => Promise.reject(new Error('no')));
  const told = [expect(uncounted).rejects.toThrow(), expect(fails).rejects.toThrow('no')];
  await clock.advance(10);
  stop.abort();
  await lease.release();
  await clock.advance(10);
  await Promise.all(told);
  expect(await counted.peek()).toEqual({ state: 'absent', attempts: 0 });
});
