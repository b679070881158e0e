import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { heard } from './heard.ts';

const OPTIONS = { wait: 0 } as const;
const KINDS = {
  mutex: (locks: Locks) => locks.mutex('key', OPTIONS),
  writer: (locks: Locks) => locks.rwLock('key', OPTIONS).write,
  reader: (locks: Locks) => locks.rwLock('key', OPTIONS).read,
  permit: (locks: Locks) => locks.semaphore('key', { ...OPTIONS, permits: 2 }),
  'only permit': (locks: Locks) => locks.semaphore('key', { ...OPTIONS, permits: 1 }),
};
type Kind = keyof typeof KINDS;

/** What comes of asking for one kind inside of another, on the same key. */
test.each<[Kind, Kind, string]>([
  ['mutex', 'mutex', 'reentered'],
  ['mutex', 'writer', 'reentered'],
  ['writer', 'mutex', 'reentered'],
  ['mutex', 'reader', 'reentered'],
  ['writer', 'reader', 'reentered'],
  ['mutex', 'permit', 'LOCK_DEADLOCK'],
  ['writer', 'permit', 'LOCK_DEADLOCK'],
  ['reader', 'reader', 'reentered'],
  ['reader', 'mutex', 'LOCK_DEADLOCK'],
  ['reader', 'writer', 'LOCK_DEADLOCK'],
  ['reader', 'permit', 'acquired'],
  ['permit', 'mutex', 'LOCK_DEADLOCK'],
  ['permit', 'writer', 'LOCK_DEADLOCK'],
  ['permit', 'permit', 'acquired'],
  ['permit', 'reader', 'acquired'],
  ['only permit', 'permit', 'refused'],
])('inside of a %s whoever asks for a %s is told: %s', async (outer, inner, told) => {
  const clock = manualClock();
  await using locks = createLocks(memory({ clock }), { clock });
  using events = heard('acquired', 'reentered', 'refused');
  let code: string | undefined;
  await KINDS[outer](locks).run(async () => {
    const lease = await KINDS[inner](locks)
      .tryAcquire()
      .catch((error) => {
        code = error.code;
        return null;
      });
    await lease?.release();
  });
  expect(code ?? events.names.at(-1)).toBe(told);
});
