/** A run that hangs has a limit: `maxHold`. */
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type MemoRun } from '../../src/index.ts';
import { loaded } from './loaded.ts';

test.each([
  ['of the memo', {}, { maxHold: '10s' }],
  ['of createLocks', { maxHold: '10s' }, {}],
  ['of the memo, which is nearer', { maxHold: '1h' }, { maxHold: '10s' }],
] as const)('after maxHold %s a run loses its lease, and the next caller runs', async (_, defaults, options) => {
  const clock = manualClock();
  const engine = memory({ clock });
  const [one, other] = [1, 2].map(() => createLocks(engine, { clock, ttl: 3_000, ...defaults }));
  for (const each of [one!, other!]) await loaded(each);
  let own!: MemoRun;
  const hangs = one!.memo<string>('key', { keep: '1h', ...options }).run((run) => {
    own = run;
    return new Promise((resolve) => clock.after(60_000, () => resolve('late')));
  });
  await clock.advance(10);
  const next = other!.memo<string>('key', { keep: '1h', ...options }).run(() => 'made');
  await clock.advance(9_000);
  expect(own.held).toBe(true);
  await clock.advance(5_000);
  expect(own.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
  expect(await next).toMatchObject({ value: 'made', ran: true });
  await clock.advance(60_000);
  expect(await hangs).toMatchObject({ value: 'late', kept: false });
});
