import { expect, test } from 'vitest';
import { mortal, scene, TTL, work } from './scene.ts';

const NAME = 'import';
const retry = { retry: true } as const;

test('with retry the others wait, hear at once of a success, and whoever comes later does, too', async () => {
  const { clock, instance, tick } = scene();
  const { runs, ends, fn } = work();
  const results = 'abc'.split('').map((label) => instance(label).once(NAME, tick, fn, retry));
  await clock.advance(10_000);
  expect(runs).toHaveLength(1);
  ends[0]!.resolve('');
  await clock.advance(100);
  const done = { ran: false, reason: 'done', by: 'a' };
  expect(await Promise.all(results)).toEqual([{ ran: true, value: '', recorded: true }, done, done]);
  await clock.advance(49_900);
  expect(await instance('d', { ahead: -1_000 }).once(NAME, tick, fn, retry)).toEqual(done);
  expect(await instance('e', { ahead: 1 }).once(NAME, tick, fn, retry)).toEqual({ ran: false, reason: 'late' });
});

test('with retry a tick whose run failed is run by another, one at a time', async () => {
  const { clock, instance, tick } = scene();
  const { runs, ends, fn } = work();
  const first = instance('a').once(NAME, tick, fn, retry);
  const failed = expect(first).rejects.toThrow('no paper');
  const second = instance('b').once(NAME, tick, fn, retry);
  await clock.advance(1_000);
  expect(runs).toHaveLength(1);
  ends[0]!.reject(new Error('no paper'));
  await clock.advance(1);
  expect(runs).toHaveLength(2);
  expect(runs[1]!.token).toBeGreaterThan(runs[0]!.token);
  ends[1]!.resolve('');
  await failed;
  expect(await second).toMatchObject({ ran: true });
});

test.each([
  'allow',
  'skip',
  'queue',
] as const)('with retry a tick whose runner died is run by another after the ttl, also with overlap: %s', async (overlap) => {
  const { clock, kept, instance, tick } = scene();
  const { state, backend } = mortal(kept);
  const { runs, ends, fn } = work();
  const dead = instance('a', { backend }).once(NAME, tick, fn, { ...retry, overlap });
  await clock.advance(1_000);
  const next = instance('b').once(NAME, tick, fn, { ...retry, overlap });
  state.dead = true;
  let before = 0;
  runs[0]!.signal.addEventListener('abort', () => {
    before = runs.length;
  });
  await clock.advance(2 * TTL);
  expect(before, 'runs when the first one is told').toBe(1);
  expect(runs.map((run) => run.held)).toEqual([false, true]);
  for (const end of ends) end.resolve('');
  await clock.advance(1);
  expect(await next).toMatchObject({ ran: true, recorded: true });
  state.dead = false;
  await clock.advance(20_000);
  expect(await dead).toMatchObject({ ran: true });
});

test('a runner that dies when the tick is nearly late is followed by nobody', async () => {
  const { clock, kept, instance, tick } = scene();
  const { state, backend } = mortal(kept);
  const { runs, fn } = work();
  const options = { ...retry, within: 2_000 };
  void instance('a', { backend }).once(NAME, tick, fn, options);
  await clock.advance(1);
  const next = instance('b').once(NAME, tick, fn, options);
  state.dead = true;
  await clock.advance(10_000);
  expect(await next).toMatchObject({ ran: false });
  expect(runs).toHaveLength(1);
});

test('a success that cannot be written down is said to be unknown', async () => {
  const { clock, kept, instance, tick } = scene();
  const { state, backend } = mortal(kept);
  const { ends, fn } = work();
  const result = instance('a', { backend }).once(NAME, tick, fn, retry);
  await clock.advance(1);
  state.dead = true;
  ends[0]!.resolve('sent');
  await clock.advance(60_000);
  expect(await result).toEqual({ ran: true, value: 'sent', recorded: false });
});
