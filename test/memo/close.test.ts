/** What `close()` does to calls of memos. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { channels, type LockEvent } from '../../src/core/contract/events.ts';
import { createLocks, type LockError } from '../../src/index.ts';
import { loaded } from './loaded.ts';

const codeOf = ({ code }: LockError): string => code;
const never = (): Promise<never> => new Promise(() => {});

/** Lets what is decided without a timer happen. */
const settled = async (): Promise<void> => {
  for (let n = 0; n < 200; n++) await Promise.resolve();
};

function processes() {
  const clock = manualClock();
  const engine = memory({ clock });
  let looks: Promise<void> = Promise.resolve();
  const values = {
    forget: (key: string) => engine.values!.forget(key),
    look: (key: string) => looks.then(() => engine.values!.look(key)),
  };
  const silence = (): void => {
    looks = never();
  };
  const [first, second] = [engine, around(engine, { values })].map((each) => createLocks(each, { clock }));
  return { clock, first: first!, second: second!, silence };
}

/** The codes that these calls ended with by now. */
function ends(calls: readonly Promise<unknown>[]): (string | undefined)[] {
  const codes: (string | undefined)[] = calls.map(() => undefined);
  for (const [n, call] of calls.entries())
    call.catch(({ code }) => {
      codes[n] = code;
    });
  return codes;
}

test.each([
  '1h',
  0,
] as const)('close() ends the wait of every caller at once, whatever it waits for (keep %s)', async (keep) => {
  const { clock, first, second, silence } = processes();
  await loaded(second);
  const busy = { keep };
  void second
    .memo('own', busy)
    .run(never)
    .catch(() => {});
  void first
    .memo('other', busy)
    .run(never)
    .catch(() => {});
  await clock.advance(10);
  const waits = ['own', 'other'].flatMap((key) =>
    [{}, { wait: 60_000 }].map((how) => second.memo(key, busy).run(() => 1, how)),
  );
  await clock.advance(10);
  silence();
  if (keep !== 0)
    for (const how of [{}, { wait: 60_000 }, { wait: 100 }]) waits.push(second.memo('look', busy).run(() => 1, how));
  const codes = ends(waits);
  await clock.advance(1);
  expect(codes.filter((code) => code !== undefined)).toEqual([]);
  void second.close();
  await settled();
  expect(codes).toEqual(waits.map(() => 'LOCK_CLOSED'));
});

test('close() ends the wait for a look that is shared no more since its key was forgotten', async () => {
  const { clock, second, silence } = processes();
  const memo = (await loaded(second)).memo('key', { keep: '1h' });
  silence();
  const calls = [memo.run(() => 1)];
  await clock.advance(1);
  await memo.forget();
  calls.push(memo.run(() => 2));
  const codes = ends(calls);
  await clock.advance(1);
  void second.close();
  await settled();
  expect(codes).toEqual(['LOCK_CLOSED', 'LOCK_CLOSED']);
});

test('a memo inside another lock never runs its function when a listener of its grant has closed the Locks', async () => {
  const locks = await loaded(createLocks(memory()));
  const close = (event: unknown): void => {
    if ((event as LockEvent).key === 'key') void locks.close();
  };
  channels.acquired.subscribe(close);
  let ran = false;
  const inside = () => locks.memo('key', { keep: '1h' }).run(() => (ran = true));
  const outcome = await locks.mutex('around').run(() => inside().then(() => 'resolved', codeOf));
  channels.acquired.unsubscribe(close);
  expect([outcome, ran]).toEqual(['LOCK_CLOSED', false]);
});
