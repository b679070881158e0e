import { expect, test } from 'vitest';
import { register } from '../../src/backends/register/index.ts';
import { memoryStore, shared } from '../kit/register-store.ts';
import { mortal, scene, TTL, work } from './scene.ts';

const NAME = 'import';
const PERIOD = 10_000;

/** Instances on a store without a clock: each has a backend of its own, so it knows of an expiry only what it has watched. */
function unwatched() {
  const { clock, instance, tick } = scene();
  const all = shared();
  const backend = () => register(memoryStore(all, { clock }), { clock });
  return { clock, tick, backend, fresh: (label: string) => instance(label, { backend: backend() }), instance };
}

test('once() resolves as soon as its function ends, on an engine without a clock', async () => {
  const { clock, tick, fresh } = unwatched();
  const result = fresh('a').once(NAME, tick, () => 1);
  await clock.advance(1);
  expect(await Promise.race([result, 'it waits'])).toMatchObject({ ran: true });
});

test("with overlap: 'skip' a new process runs the next tick after the death of a runner, on an engine without a clock", async () => {
  const { clock, tick, backend, fresh, instance } = unwatched();
  const { state, backend: dying } = mortal(backend());
  const { runs, ends, fn } = work();
  void instance('a', { backend: dying }).once(NAME, tick, fn, { overlap: 'skip' });
  await clock.advance(100);
  state.dead = true;
  await clock.advance(PERIOD - 100);
  const next = fresh('b').once(NAME, tick + PERIOD, fn, { overlap: 'skip' });
  await clock.advance(2 * TTL);
  expect(runs).toHaveLength(2);
  ends[1]!.resolve('');
  expect(await next).toMatchObject({ ran: true });
});

test("with overlap: 'skip' a tick is left out while a live runner runs, on an engine without a clock", async () => {
  const { clock, tick, fresh } = unwatched();
  const { runs, ends, fn } = work();
  const first = fresh('a').once(NAME, tick, fn, { overlap: 'skip' });
  await clock.advance(PERIOD);
  const next = fresh('b').once(NAME, tick + PERIOD, fn, { overlap: 'skip' });
  await clock.advance(3 * TTL);
  expect(await next).toEqual({ ran: false, reason: 'overlap', by: 'a' });
  expect(runs).toHaveLength(1);
  ends[0]!.resolve('');
  await first;
});

test("with retry and overlap: 'skip' another instance runs the tick of a dead runner, on an engine without a clock", async () => {
  const { clock, tick, backend, fresh, instance } = unwatched();
  const { state, backend: dying } = mortal(backend());
  const { runs, ends, fn } = work();
  const options = { retry: true, overlap: 'skip' } as const;
  void instance('a', { backend: dying }).once(NAME, tick, fn, options);
  await clock.advance(1_000);
  const next = fresh('b').once(NAME, tick, fn, options);
  state.dead = true;
  await clock.advance(5 * TTL);
  expect(runs.map((run) => run.held)).toEqual([false, true]);
  ends[1]!.resolve('');
  await clock.advance(100);
  expect(await next).toMatchObject({ ran: true, recorded: true });
});
