import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { scene, work } from './scene.ts';

const NAME = 'nightly';
const WITHIN = 60_000;
const SKEW = 1_000;

test('of five instances that see a tick one runs it, and the others hear who', async () => {
  const { clock, instance, tick } = scene();
  const { runs, ends, fn } = work();
  const results = 'abcde'.split('').map((label) => instance(label).once(NAME, tick, fn));
  await clock.advance(1);
  expect(runs).toHaveLength(1);
  ends[0]!.resolve('report');
  expect(await Promise.all(results)).toEqual([
    { ran: true, value: 'report', recorded: true },
    ...Array(4).fill({ ran: false, reason: 'taken', by: 'a' }),
  ]);
  expect([runs[0]!.name, runs[0]!.tick.getTime()]).toEqual([NAME, tick]);
});

test('a tick is the same however it is written, and another time or name is another tick', async () => {
  const { instance, tick } = scene();
  const at = (time: string | number | Date, name = NAME) => instance('a').once(name, time, () => 1);
  expect(await at(tick)).toMatchObject({ ran: true });
  for (const same of [
    new Date(tick),
    '2026-01-01T00:00:00Z',
    '2026-01-01T05:30:00.000+05:30',
    '2025-12-31T19:00-05:00',
  ])
    expect(await at(same), `${same}`).toMatchObject({ ran: false, reason: 'taken' });
  expect(await at(tick, 'weekly')).toMatchObject({ ran: true });
  expect(await at(tick + 1)).toMatchObject({ ran: true });
});

test.each([
  ['late', WITHIN + 1],
  ['early', -SKEW - 1],
] as const)('a tick that is %s by the clock of an instance is not run by it', async (reason, ahead) => {
  const { instance, tick } = scene();
  expect(await instance('a', { ahead }).once(NAME, tick, () => 1)).toEqual({ ran: false, reason });
});

test.each([
  ['the first moment', 0],
  ['the last moment', WITHIN],
])('a tick that was run at %s is not run at the last moment of the slowest clock', async (_, wait) => {
  const { clock, instance, tick } = scene();
  const first = instance('first', { ahead: -SKEW });
  const last = instance('last', { ahead: -2 * SKEW });
  await clock.advance(wait);
  expect(await first.once(NAME, tick, () => 1)).toMatchObject({ ran: true });
  await clock.advance(WITHIN + 2 * SKEW - wait);
  expect(await last.once(NAME, tick, () => 1)).toMatchObject({ ran: false, reason: 'taken' });
  await clock.advance(1);
  expect(await last.once(NAME, tick, () => 1)).toEqual({ ran: false, reason: 'late' });
});

test.each([
  ['an engine whose holds outlive a process', true],
  ['an engine of sessions', false],
])('a tick whose run failed on %s is not run again, and the others are told that it failed', async (_, expires) => {
  const { kept, clock, instance, tick } = scene();
  const session = { ...kept.traits, expires: false, lifetime: 'session' } as const;
  const backend = expires ? kept : around(kept, { traits: session });
  const failed = instance('a', { backend }).once(NAME, tick, () => Promise.reject(new Error('no paper')));
  await expect(failed).rejects.toThrow('no paper');
  const result = await instance('b', { backend }).once(NAME, tick, () => 1);
  expect(result).toEqual({ ran: false, reason: 'failed', by: 'a' });
  await clock.advance(WITHIN - 1);
  expect(await instance('c', { backend }).once(NAME, tick, () => 1)).toMatchObject({ reason: 'failed' });
});

test('a failure that cannot be noted is no other error', async () => {
  const { kept, clock, instance, tick } = scene();
  const backend = around(kept, {
    attempt: (claim) => (claim.key.endsWith('#failed') ? Promise.reject(new Error('down')) : kept.attempt(claim)),
  });
  const failed = instance('a', { backend }).once(NAME, tick, () => Promise.reject(new Error('no paper')));
  const told = expect(failed).rejects.toThrow('no paper');
  await clock.advance(10_000);
  await told;
  expect(await instance('b').once(NAME, tick, () => 1)).toMatchObject({ reason: 'taken', by: 'a' });
});

test.each([
  [1_000],
  [2_000],
])('a tick that is asked for while it is young is run, though the grant is %i ms late', async (way) => {
  const { kept, clock, instance, tick } = scene();
  const backend = around(kept, {
    attempt: async (claim) => {
      const answer = kept.attempt(claim);
      await new Promise<void>((resolve) => clock.after(way, resolve));
      return answer;
    },
  });
  await clock.advance(WITHIN);
  const asked = instance('a', { backend }).once(NAME, tick, () => 1);
  await clock.advance(way);
  expect(await asked).toMatchObject({ ran: true });
});

test('of two that ask at the last moment, the second with the slowest clock and an answer that comes late, one runs', async () => {
  const { kept, clock, instance, tick } = scene();
  const slow = around(kept, {
    attempt: async (claim) => {
      await new Promise<void>((resolve) => clock.after(2_000, resolve));
      return kept.attempt(claim);
    },
  });
  await clock.advance(WITHIN);
  expect(await instance('fast').once(NAME, tick, () => 1)).toMatchObject({ ran: true });
  await clock.advance(SKEW);
  const asked = instance('slow', { ahead: -SKEW, backend: slow }).once(NAME, tick, () => 2);
  await clock.advance(5_000);
  expect(await asked).toMatchObject({ ran: false, reason: 'taken' });
});

test('a runner that dies keeps the tick, without retry', async () => {
  const { clock, kept, instance, tick } = scene();
  let dead = false;
  const never = () => new Promise<never>(() => {});
  const backend = around(kept, {
    renew: (claims) => (dead ? never() : kept.renew(claims)),
    release: (...of) => (dead ? never() : kept.release(...of)),
  });
  void instance('a', { backend }).once(NAME, tick, never);
  await clock.advance(1);
  dead = true;
  await clock.advance(WITHIN - 10);
  expect(await instance('b', { ahead: -SKEW }).once(NAME, tick, () => 1)).toMatchObject({ reason: 'taken' });
});

test('the next tick is not held up by a run that goes on', async () => {
  const { clock, instance, tick } = scene();
  const { runs, ends, fn } = work();
  const [a, b] = [instance('a'), instance('b')];
  const first = a.once(NAME, tick, fn);
  await clock.advance(300_000);
  const second = b.once(NAME, tick + 300_000, fn);
  await clock.advance(1);
  expect(runs).toHaveLength(2);
  for (const end of ends) end.resolve('');
  expect(await Promise.all([first, second])).toMatchObject([{ ran: true }, { ran: true }]);
});
