import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/backend.ts';
import { createLocks } from '../../src/index.ts';
import { manualClock } from '../../src/testing/index.ts';

/** Memory whose watch is free to arm, as on an engine with one mailbox per process. */
function mailbox(clock: ReturnType<typeof manualClock>): Backend {
  const engine = memory({ clock });
  const wakes = new Map<string, Parameters<NonNullable<Backend['watch']>>[1]>();
  return {
    name: 'mailbox',
    traits: { ...engine.traits, wakes: 'mailbox' },
    attempt: async (claim) => {
      const answer = await engine.attempt(claim);
      if (!answer.granted) await engine.watch?.(claim, (grant) => wakes.get(claim.id)?.(grant));
      return answer;
    },
    renew: (claims) => engine.renew(claims),
    release: async (handle, next) => {
      const { freed } = await engine.release(handle);
      if (!next) return { freed };
      const answer = await engine.attempt(next);
      if (!answer.granted) await engine.watch?.(next, (grant) => wakes.get(next.id)?.(grant));
      return { freed, next: answer };
    },
    watch: (claim, wake) => {
      wakes.set(claim.id, wake);
      return { [Symbol.asyncDispose]: async () => void wakes.delete(claim.id) };
    },
    close: () => engine.close(),
  };
}

test('when a writer leaves, all the readers behind it come in, not only the one that rides on the release', async () => {
  const clock = manualClock(1);
  await using locks = createLocks(mailbox(clock), { clock });
  const { read, write } = locks.rwLock('key');
  const writer = await write.acquire();
  const readers = Array.from({ length: 5 }, () => read.acquire());
  await clock.advance(1);
  await writer.release();
  await clock.advance(10);
  let inside = 0;
  for (const reader of readers) void reader.then(() => inside++);
  await clock.advance(10);
  expect(inside).toBe(5);
  for (const reader of readers) await (await reader).release();
});

test('a waiter that gives up lets those behind it in that it alone kept out', async () => {
  const clock = manualClock(1);
  await using locks = createLocks(memory({ clock }), { clock });
  const { read, write } = locks.rwLock('key');
  const first = await read.acquire();
  const writer = expect(write.acquire({ wait: 100 })).rejects.toThrow(
    expect.objectContaining({ code: 'LOCK_TIMEOUT' }),
  );
  const second = read.acquire();
  await clock.advance(200);
  await writer;
  await (await second).release();
  await first.release();
});
