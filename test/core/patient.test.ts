import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { QueueEntry } from '../../src/core/contract/backend.ts';
import { createLocks } from '../../src/index.ts';

const TTL = 90_000;

test.each([
  ['one that waits for long', { bound: '8s' }, 8_000],
  ['one that would wait for as long as it may', { bound: '60s' }, 20_000],
  ['any other', {}, 2_000],
] as const)('%s gives a sign of life as often as it asked for', async (_, spin, every) => {
  const clock = manualClock();
  const backend = memory({ clock });
  let attempts = 0;
  const counted = around(backend, {
    attempt: (claim) => {
      attempts++;
      return backend.attempt(claim);
    },
  });
  const holder = createLocks(backend, { clock });
  const waiter = createLocks(counted, { clock });
  const held = await holder.mutex('k').acquire({ ttl: TTL });
  const waits = waiter.mutex('k').acquire({ wait: 'forever', ttl: TTL, spin });
  await clock.advance(20 * every);
  expect(attempts).toBeGreaterThanOrEqual(19);
  expect(attempts).toBeLessThanOrEqual(23);
  await held.release();
  await clock.advance(10);
  await (await waits).release();
});

test('the lease of a patient waiter is what it asked for as soon as it has it', async () => {
  const clock = manualClock();
  const backend = memory({ clock });
  const locks = createLocks(backend, { clock });
  const held = await locks.mutex('k').acquire({ ttl: TTL, spin: { bound: '8s' } });
  await clock.advance(10);
  const listed: QueueEntry[] = [];
  for await (const standing of backend.inspect!('k')) listed.push(standing);
  expect(listed[0]!.remaining, 'ms for which a crash would keep the key').toBeLessThanOrEqual(TTL);
  await held.release();
});

test('who does not wait has no patience: it asks for no place, and its hold is renewed no sooner', async () => {
  const clock = manualClock();
  const backend = memory({ clock });
  const places: (number | undefined)[] = [];
  let renewals = 0;
  const counted = around(backend, {
    attempt(claim) {
      places.push(claim.placeTtl);
      return backend.attempt(claim);
    },
    renew(claims) {
      renewals++;
      return backend.renew(claims);
    },
  });
  const lease = await createLocks(counted, { clock })
    .mutex('k')
    .tryAcquire({ ttl: TTL, spin: { bound: '60s' } });
  await clock.advance(TTL / 4);
  expect(places).toEqual([undefined]);
  expect(renewals).toBe(0);
  await lease!.release();
});

test('where nobody is woken the hold of a patient waiter is renewed no sooner: its claim lasts no longer than its lease', async () => {
  const clock = manualClock();
  const engine = memory({ clock });
  const places: (number | undefined)[] = [];
  const renewed: number[] = [];
  const backend = around(engine, {
    traits: { ...engine.traits, wakes: 'never' },
    attempt(claim) {
      places.push(claim.placeTtl);
      return engine.attempt(claim);
    },
    renew(claims) {
      renewed.push(clock.now());
      return engine.renew(claims);
    },
  });
  await createLocks(backend, { clock })
    .mutex('k')
    .acquire({ ttl: TTL, spin: { bound: '8s' } });
  await clock.advance(TTL / 3);
  expect(places).toEqual([24_000]);
  expect(renewed).toEqual([TTL / 3]);
});
