import { expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import type { OnceOptions } from '../../src/index.ts';
import { scene, work } from './scene.ts';

const nothing = () => {};

test.each<[string, unknown, OnceOptions | undefined, RegExp]>([
  ['no tick', undefined, undefined, /a tick must be a Date, .*not undefined/],
  ['an invalid Date', new Date(Number.NaN), undefined, /not an invalid Date/],
  ['a time before 1970', -1, undefined, /not -1/],
  ['a time with parts of a ms', 1.5, undefined, /not 1\.5/],
  ['a time after 9999', 253_402_300_800_000, undefined, /not 253402300800000/],
  ['no time', 'noon', undefined, /not "noon"/],
  ['a day alone, which has no zone', '2026-05-04', undefined, /with a zone/],
  ['a time without a zone', '2026-05-04T03:00:00', undefined, /with a zone/],
  ['the 30th of February', '2026-02-30T03:00:00Z', undefined, /not "2026-02-30/],
  ['a month that there is not', '2026-13-01T03:00:00Z', undefined, /not "2026-13/],
  ['an hour that there is not', '2026-05-04T25:00:00Z', undefined, /not "2026-05-04T25/],
  ['a window that is no time', 0, { within: 'soon' as never }, /within is "soon"/],
  ['a window of nothing', 0, { within: 0 }, /within is 0; it must be from 1 ms/],
  ['a skew below 0', 0, { skew: -1 }, /skew is -1/],
  ['an overlap that there is not', 0, { overlap: 'kill' as never }, /overlap is "kill"; it must be 'skip', 'queue' or/],
  ['a retry that is a number', 0, { retry: 3 as never }, /retry is 3; it must be true or false/],
  ['an option that there is not', 0, { minHold: 5 } as never, /"minHold" is not one of the options of once\(\)/],
  ['no signal', 0, { signal: 5 as never }, /it must be an AbortSignal/],
  ['a ttl that is none', 0, { ttl: 'x' as never }, /ttl is "x"/],
])('%s is LOCK_INVALID', async (_title, tick, options, message) => {
  const asked = scene()
    .instance('a')
    .once('name', tick as never, nothing, options);
  await expect(asked).rejects.toMatchObject({ code: 'LOCK_INVALID', message: expect.stringMatching(message) });
});

test.each<[string, unknown, RegExp]>([
  ['an empty name', '', /a name must not be empty/],
  ['no name', undefined, /a name must be a string/],
  [
    'a name that leaves no room for the time',
    'n'.repeat(481),
    /has 481 bytes; with the time of a tick behind it at most 480/,
  ],
])('%s is LOCK_INVALID', async (_title, name, message) => {
  const { instance, tick } = scene();
  const asked = instance('a').once(name as never, tick, nothing);
  await expect(asked).rejects.toMatchObject({ code: 'LOCK_INVALID', message: expect.stringMatching(message) });
});

test('the longest name works, with everything that is taken for it', async () => {
  const { instance, tick } = scene();
  const options = { retry: true, overlap: 'skip' } as const;
  expect(await instance('a').once('n'.repeat(480), tick, nothing, options)).toMatchObject({ ran: true });
});

test('without a function it is LOCK_INVALID, and the tick is left to others', async () => {
  const { instance, tick } = scene();
  await expect(instance('a').once('name', tick, 5 as never)).rejects.toMatchObject({ code: 'LOCK_INVALID' });
  expect(await instance('b').once('name', tick, nothing)).toMatchObject({ ran: true });
});

test('a window that is longer than the engine keeps a key is LOCK_INVALID, naming both', async () => {
  const { instance, kept, tick } = scene();
  const backend = around(kept, { traits: { ...kept.traits, ttl: { min: 1, max: 3_600_000 } } });
  await expect(instance('a', { backend }).once('name', tick, nothing, { within: '1h' })).rejects.toMatchObject({
    code: 'LOCK_INVALID',
    message: expect.stringMatching(
      /within is 3600000 ms and skew 1000 ms; the engine keeps a key for 3600000 ms at most/,
    ),
  });
});

test('where nothing outlives the process it is LOCK_UNSUPPORTED', async () => {
  const { instance, kept, tick } = scene();
  const backend = around(kept, { traits: { ...kept.traits, expires: false, lifetime: 'session' }, hints: undefined });
  const asked = instance('a', { backend }).once('name', tick, nothing);
  await expect(asked).rejects.toMatchObject({ code: 'LOCK_UNSUPPORTED' });
});

test('a signal that is aborted before the start begins nothing, and leaves the tick to others', async () => {
  const { instance, tick } = scene();
  const signal = AbortSignal.abort();
  await expect(instance('a').once('name', tick, nothing, { signal })).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
  expect(await instance('b').once('name', tick, nothing)).toMatchObject({ ran: true });
});

test('a signal ends the wait for a runner that may die, and tells a run to stop', async () => {
  const { clock, instance, tick } = scene();
  const { runs, ends, fn } = work();
  const [leave, stop] = [new AbortController(), new AbortController()];
  const first = instance('a').once('name', tick, fn, { retry: true, signal: stop.signal });
  await clock.advance(1);
  const second = instance('b').once('name', tick, fn, { retry: true, signal: leave.signal });
  const left = expect(second).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
  await clock.advance(1);
  leave.abort();
  await left;
  stop.abort('told');
  expect([runs[0]!.signal.aborted, runs[0]!.signal.reason]).toEqual([true, 'told']);
  ends[0]!.resolve('early');
  expect(await first).toMatchObject({ ran: true, value: 'early' });
});

test('after close() it is LOCK_CLOSED', async () => {
  const { instance, tick } = scene();
  const locks = instance('a');
  await locks.close();
  await expect(locks.once('name', tick, nothing)).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
});
