/** What is taken inside the function of a memo, under its key, and outlives that function. */
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Lease, type MemoRun } from '../../src/index.ts';
import { loaded } from './loaded.ts';

test('a lease that outlives the function of its memo learns of its end before another holder has the key', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const here = await loaded(createLocks(engine, { clock }));
  const other = createLocks(engine, { clock }).mutex('key');
  const told: string[] = [];
  let run!: MemoRun;
  let lease!: Lease;
  const memo = here.memo<number>('key', { keep: '1h' });
  const first = memo.run(async (mine) => {
    run = mine;
    lease = await here.mutex('key').acquire();
    lease.signal.addEventListener('abort', () => told.push(lease.signal.reason.code));
    void other.acquire().then(() => told.push('the next one has it'));
    return 1;
  });
  const beside = memo.run(() => expect.fail('it ran'));
  await clock.advance(100);
  expect(told, 'the lease hears of its loss, then the key is free').toEqual(['LOCK_LOST', 'the next one has it']);
  expect(lease.held).toBe(false);
  expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_LOST' }));
  expect(await lease.release(), 'it frees nothing of the next one').toBe(false);
  expect(run.signal.aborted, 'the function of the memo has lost nothing').toBe(false);
  expect(await first, 'its result is kept').toMatchObject({ ran: true, kept: true });
  expect(await beside).toMatchObject({ value: 1, ran: false });
});
