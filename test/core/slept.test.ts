/** A machine that sleeps while the engine goes on: its own clock stands still meanwhile, and what was sent to it is read when it wakes. */
import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Lease, type LockError, type LockOptions } from '../../src/index.ts';

const SLEEP_MS = 60_000;

function scene(options: LockOptions = {}) {
  const server = manualClock(2);
  const clock = manualClock();
  const engine = memory({ clock: server });
  let unread: (() => void)[] | undefined;
  const receive = (read: () => void): void => void (unread ? unread.push(read) : read());
  const backend = around(engine, {
    watch: (claim, wake) => engine.watch!(claim, (...what) => receive(() => wake(...what))),
    async attempt(claim) {
      const answer = await engine.attempt(claim);
      await new Promise<void>(receive);
      return answer;
    },
  });
  /** Sleeps for longer than a lease. At its end another process has the lock. */
  const sleep = async (meanwhile = async () => {}): Promise<void> => {
    unread = [];
    await meanwhile();
    clock.suspend(SLEEP_MS);
    await server.advance(SLEEP_MS);
    expect(await other.tryAcquire(), 'the other process, on the engine').not.toBeNull();
    const mail = unread;
    unread = undefined;
    for (const read of mail) read();
  };
  const mutex = createLocks(backend, { clock, ...options }).mutex('key');
  const other = createLocks(engine, { clock: server }).mutex('key');
  /** The code of the error of a run; what its lease said of itself if its function ran. */
  const run = (): Promise<unknown> =>
    mutex.run(({ held }: Lease) => `ran, held: ${held}`, { wait: 1_000 }).catch(({ code }: LockError) => code);
  return { clock, server, mutex, other, sleep, run };
}

test('nothing runs by the answer of a grant that was over when the machine woke and read it', async () => {
  const { clock, sleep, run } = scene();
  let ran: Promise<unknown> | undefined;
  await sleep(async () => {
    ran = run();
    await clock.advance(1);
  });
  await clock.advance(5_000);
  expect(await ran).toBe('LOCK_TIMEOUT');
});

test('nothing runs by the notification of a grant that was over when the machine woke and read it', async () => {
  const { clock, server, other, sleep, run } = scene();
  const first = await other.acquire();
  const ran = run();
  await server.advance(100);
  await clock.advance(100);
  await sleep(async () => void (await first.release()));
  await clock.advance(5_000);
  expect(await ran).toBe('LOCK_TIMEOUT');
});

test('a hold that lingered when the machine fell asleep, and was over when it woke, is not passed on', async () => {
  const { clock, mutex, sleep, run } = scene({ handOff: { linger: 1_000, within: 10_000 } });
  await mutex.run(() => {});
  await sleep();
  const ran = run();
  await clock.advance(10_000);
  expect(await ran).toBe('LOCK_TIMEOUT');
});
