import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type TicksMissedEvent, tickChannels } from '../../src/once/events.ts';
import { scene } from './scene.ts';

/** ms */
const PERIOD = 300_000;
const nothing = (): void => {};

const warned = (): string[] => vi.mocked(process.emitWarning).mock.calls.map(([message]) => String(message));
let events: TicksMissedEvent[] = [];
const hear = (event: unknown): void => void events.push(event as TicksMissedEvent);

beforeEach(() => {
  events = [];
  vi.spyOn(process, 'emitWarning').mockImplementation(nothing);
  tickChannels.ticksMissed.subscribe(hear);
});
afterEach(() => {
  tickChannels.ticksMissed.unsubscribe(hear);
  vi.restoreAllMocks();
});

test('a name of which every tick was late so far is told once, by a warning and an event that say by how much', async () => {
  const { clock, instance, tick } = scene();
  const locks = instance('a');
  for (let n = 0; n < 4; n++) {
    // A loop that began out of phase: two minutes after each multiple of the period.
    await clock.advance(n === 0 ? 120_000 : PERIOD);
    expect(await locks.once('feed', tick + n * PERIOD, nothing)).toMatchObject({ reason: 'late' });
    expect(warned(), `after ${n + 1} ticks`).toHaveLength(n === 0 ? 0 : 1);
  }
  expect(warned()[0]).toMatch(/"feed".*2 ticks.*late by 120 s.*within is 60 s/s);
  expect(events).toEqual([
    { version: 1, locks: locks.number, backend: 'memory', name: 'feed', ticks: 2, reason: 'late', by: 120_000 },
  ]);
});

test('a tick that is no whole second is warned of, once for each name: it looks like the time of the call', async () => {
  const { instance, tick } = scene();
  const locks = instance('a');
  for (const n of [1, 0, 2]) await locks.once('digest', new Date(tick + n), nothing);
  expect(warned()).toHaveLength(1);
  expect(warned()[0]).toMatch(/"digest" got the tick 2026-01-01T00:00:00\.001Z, which is no whole second/);
});

test('ticks that are early count as well', async () => {
  const { instance, tick } = scene();
  const locks = instance('a');
  for (const n of [1, 2]) await locks.once('feed', tick + n * PERIOD, nothing);
  expect(events).toMatchObject([{ reason: 'early', by: 2 * PERIOD }]);
});

test.each<[string, (locks: ReturnType<ReturnType<typeof scene>['instance']>, tick: number) => Promise<void>]>([
  [
    'one tick, asked for again and again',
    async (locks, tick) => {
      for (let n = 0; n < 3; n++) await locks.once('feed', tick - PERIOD, nothing);
    },
  ],
  [
    'a name of which one tick was young',
    async (locks, tick) => {
      await locks.once('feed', tick, nothing);
      for (const n of [1, 2, 3]) await locks.once('feed', tick - n * PERIOD, nothing);
    },
  ],
  [
    'a name of which a tick was young when one had been late',
    async (locks, tick) => {
      for (const n of [-1, 0, -2, -3]) await locks.once('feed', tick + n * PERIOD, nothing);
    },
  ],
  [
    'names that come once each, as many as there may be',
    async (locks, tick) => {
      for (let n = 0; n < 1_100; n++) await locks.once(`reminder ${n}`, tick - n * PERIOD - PERIOD, nothing);
      for (const n of [1, 2, 3]) await locks.once('one too many', tick - n * PERIOD, nothing);
    },
  ],
  [
    'ticks of another age, as for a check of the options',
    async (locks) => {
      for (const tick of [0, 1, 2]) await locks.once('feed', tick, nothing);
    },
  ],
  [
    'bad options',
    async (locks, tick) => {
      for (const n of [1, 2]) await locks.once('feed', tick - n * PERIOD, nothing, { within: -1 }).catch(nothing);
    },
  ],
])('nobody is warned of %s', async (_, ask) => {
  const { instance, tick } = scene();
  await ask(instance('a'), tick);
  expect([warned(), events]).toEqual([[], []]);
});
