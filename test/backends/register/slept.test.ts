/**
 * A machine that slept: its clock lacks the sleep until something corrects it. What the machine reads between must not look as old as the sleep
 * is long.
 */
import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { register } from '../../../src/backends/register/index.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import type { Clock } from '../../../src/core/contract/clock.ts';
import { listOf } from '../../../src/core/index.ts';
import { memoryStore, shared, type Wishes } from '../../kit/register-store.ts';
import { claim as claimOf } from './claim.ts';

const TTL = 1_000;
const SLEEP_MS = 60_000;

const claim = (id: string, queue = false) => claimOf(id, { ttl: TTL, queue });

/** Two machines with one store. One of them sleeps, and the clock of the other is the one of the store. */
function scene(wishes: Wishes = {}) {
  const server = manualClock(2);
  const clock = manualClock();
  const store = memoryStore(shared(), { ...wishes, clock: server });
  const open = (own: Clock): Backend => register(store, { clock: own });
  return { server, clock, store, awake: open(server), sleeper: open(clock) };
}

const attempt = (backend: Backend): Promise<unknown> => backend.attempt(claim('b'));
const list = (backend: Backend): Promise<unknown> => listOf(backend.inspect!('k'));

test('a hold that a watch shows after a sleep is not over when the clock is corrected', async () => {
  const { clock, awake, sleeper } = scene({ watches: true });
  expect(await awake.attempt(claim('a'))).toMatchObject({ granted: true });
  expect(await sleeper.attempt(claim('b', true))).toMatchObject({ granted: false });
  await using _ = await sleeper.watch!(claim('b', true), () => {});
  clock.suspend(SLEEP_MS);
  expect(await awake.renew([claim('a')]), 'the watch shows this').toMatchObject([{ validFor: TTL }]);
  clock.resync();
  expect(await sleeper.attempt(claim('b', true))).toMatchObject({ granted: false });
});

test.each([
  ['a listing', list],
  ['an attempt', attempt],
])('a hold that %s reads after a sleep is not over when the clock is corrected', async (_, read) => {
  const { clock, awake, sleeper } = scene();
  expect(await awake.attempt(claim('a'))).toMatchObject({ granted: true });
  clock.suspend(SLEEP_MS);
  await read(sleeper);
  clock.resync();
  expect(await attempt(sleeper)).toMatchObject({ granted: false });
});

test('a hold that a release admits after a sleep is not over when the clock is corrected', async () => {
  const { clock, store, awake, sleeper } = scene();
  expect(await attempt(sleeper)).toMatchObject({ granted: true });
  expect(await awake.attempt(claim('a', true))).toMatchObject({ granted: false });
  await list(sleeper);
  const { write } = store;
  store.write = (...call) => {
    clock.suspend(SLEEP_MS); // the machine falls asleep before the request is out, and sends it when it wakes
    return write(...call);
  };
  expect(await sleeper.release(claim('b'))).toEqual({ freed: true });
  store.write = write;
  clock.resync();
  expect(await attempt(sleeper)).toMatchObject({ granted: false });
});

test('a hint that is read after a sleep is not over when the clock is corrected', async () => {
  const { clock, awake, sleeper } = scene();
  await awake.hints!.write('hint', 'text', TTL);
  clock.suspend(SLEEP_MS);
  expect(await sleeper.hints!.read('hint')).toBe('text');
  clock.resync();
  expect(await sleeper.hints!.read('hint')).toBe('text');
});

test('a sleep before a request is no part of the time of the request, so a dead hold is over after its lease', async () => {
  const { clock, server, awake, sleeper } = scene({ tellsTime: true });
  clock.suspend(SLEEP_MS);
  expect(await attempt(sleeper)).toMatchObject({ granted: true });
  await server.advance(TTL);
  expect(await awake.attempt(claim('a'))).toMatchObject({ granted: true });
});
