/** While an old result is there, a refresh that comes to nothing keeps it from nobody. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { LockEvent } from '../../src/core/contract/events.ts';
import { createLocks, LockError } from '../../src/index.ts';

const OPTIONS = { keep: '1h', refresh: '1m' } as const;

/** A process that has kept `old`, which is due. From then on the engine answers attempts as `answer` says. */
async function due(answer?: () => Promise<never>) {
  const clock = manualClock();
  const engine = memory({ clock });
  const attempt: typeof engine.attempt = (claim) => (refusing ? answer!() : engine.attempt(claim));
  let refusing = false;
  const locks = createLocks(around(engine, { attempt }), { clock });
  const memo = locks.memo<string>('key', OPTIONS);
  await memo.run(() => 'old');
  await clock.advance(61_000);
  refusing = answer !== undefined;
  return { clock, engine, locks, memo };
}

const failing = () => Promise.reject(new Error('no database'));

test('whoever refreshes in vain has the old result, one after the other', async () => {
  const { memo, locks } = await due();
  for (let call = 1; call <= 5; call++)
    expect(await memo.run(failing), `call ${call}`).toMatchObject({ value: 'old', ran: false, kept: true });
  expect(await locks.mutex('key').tryAcquire(), 'the key is free').not.toBeNull();
});

test('the failure of a refresh is an event, with the error and the token of its run', async () => {
  const { memo, locks } = await due();
  const events: LockEvent[] = [];
  const hear = (event: unknown): void => void events.push(event as LockEvent);
  subscribe('holdfast:refresh-failed', hear);
  let token: bigint | undefined;
  try {
    await memo.run((run) => {
      ({ token } = run);
      return failing();
    });
    await memo.run(() => 'new');
    await locks
      .memo('other')
      .run(failing)
      .catch(() => {});
  } finally {
    unsubscribe('holdfast:refresh-failed', hear);
  }
  expect(events).toMatchObject([{ key: 'key', token, error: { message: 'no database' } }]);
});

test.each([
  ['refuses', () => Promise.reject(new LockError('LOCK_UNAVAILABLE', 'no room'))],
  ['refuses for good', () => Promise.reject(new LockError('LOCK_UNSUPPORTED', 'no permission'))],
  ['loses a request', () => Promise.reject(new Error('connection reset'))],
] as const)('where the engine %s when a refresh is due, all callers have the old result', async (_, answer) => {
  const { clock, memo } = await due(answer);
  const calls = [1, 2, 3].map(() => memo.run(() => 'new'));
  await clock.advance(10_000);
  for (const call of calls) expect(await call).toMatchObject({ value: 'old', ran: false, kept: true });
});

test('a refresh that fails when the old result is over is an error', async () => {
  const { clock, memo } = await due();
  const work = Promise.withResolvers<string>();
  const call = memo.run(() => work.promise);
  await clock.advance(3_600_000);
  work.reject(new Error('no database'));
  await expect(call).rejects.toThrow('no database');
});

test('a request of another match is told so, and does not replace the old result', async () => {
  const { locks, clock } = await due();
  const memo = (match: number) => locks.memo<string>('matched', { ...OPTIONS, match });
  await memo(1).run(() => 'old');
  await clock.advance(61_000);
  await expect(memo(2).run(() => 'of another')).rejects.toMatchObject({ code: 'LOCK_MISMATCH' });
  expect(await memo(1).run(failing)).toMatchObject({ value: 'old' });
});

test('locks that were closed refresh nothing, and say so', async () => {
  const { memo, locks } = await due();
  const call = memo.run(() => 'new');
  const told = expect(call).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  void locks.close();
  await told;
});
