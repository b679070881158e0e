import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { EXCLUSIVE } from '../../src/core/contract/admission.ts';
import { LayeredOptions } from '../../src/core/contract/option-table.ts';
import { heldLease } from '../../src/core/queue/held-lease.ts';
import { releaseActOf } from '../../src/core/queue/release.ts';
import { createLocks, type LockOptions } from '../../src/index.ts';

interface Case {
  readonly options?: LockOptions;
  /** The options of the caller that waits here, if one does. */
  readonly next?: LockOptions;
  readonly isLast?: boolean;
  /** The time for which it was held, ms. */
  readonly heldFor?: number;
}

test.each<[string, Case, string]>([
  ['nobody waits', {}, 'wait a turn'],
  ['nobody has come in that turn', { isLast: true }, 'give back'],
  ['an equal caller waits', { next: {} }, 'pass'],
  ['an equal caller came in that turn', { next: {}, isLast: true }, 'pass'],
  ['a caller waits for another lease', { next: { ttl: 3_000 } }, 'wait a turn'],
  ['a caller waits for another lease, after the turn', { next: { ttl: 3_000 }, isLast: true }, 'give back'],
  ['the budget of hand-overs is used up', { next: {}, heldFor: 60_000 }, 'wait a turn'],
  ['hand-over is off', { options: { handOff: false }, next: {} }, 'wait a turn'],
  ['its caller waits for the release', { options: { awaitRelease: true } }, 'give back'],
  [
    'its caller waits for the release, and another one for the key',
    { options: { awaitRelease: true }, next: {} },
    'pass',
  ],
  ['it lingers', { options: { handOff: { linger: 50 } } }, 'linger'],
  ['it has lingered', { options: { handOff: { linger: 50 } }, isLast: true }, 'give back'],
  [
    'it would linger, and a caller waits for another lease',
    { options: { handOff: { linger: 50 } }, next: { ttl: 3_000 } },
    'wait a turn',
  ],
  ['its time at the least is not over', { options: { minHold: 500 } }, 'keep'],
  ['its time at the least is not over, and a caller waits', { options: { minHold: 500 }, next: {} }, 'keep'],
  ['its time at the least is over', { options: { minHold: 500 }, heldFor: 500 }, 'wait a turn'],
])('%s: what becomes of a released hold', async (_, { options: given, next, isLast = false, heldFor = 0 }, act) => {
  const options = { awaitRelease: false, ...given };
  const clock = manualClock();
  const backend = memory({ clock });
  const lease = await createLocks(backend, { clock }).mutex('key').acquire(options);
  await clock.advance(heldFor);
  const wish = next && {
    demand: EXCLUSIVE,
    terms: new LayeredOptions(backend.traits, { ...options, ...next }).terms,
  };
  expect(releaseActOf(heldLease(lease).hold, wish, wish !== undefined, isLast, clock.now())).toBe(act);
});
