import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { type Demand, EXCLUSIVE, SHARED, WRITER } from '../../src/core/contract/admission.ts';
import type { Traits } from '../../src/core/contract/backend.ts';
import { LayeredOptions } from '../../src/core/contract/option-table.ts';
import type { LockOptions } from '../../src/core/contract/options.ts';
import { labelParts } from '../../src/core/contract/origin.ts';
import { interchangeable } from '../../src/core/queue/release.ts';
import { AcquireRequest, claimFor } from '../../src/core/queue/request.ts';
import { RequestEvents } from '../../src/core/queue/request-events.ts';
import { LockRuntime } from '../../src/core/queue/runtime.ts';

function setup(traits: Partial<Traits> = {}) {
  const clock = manualClock();
  const engine = memory({ clock });
  const backend = around(engine, { traits: { ...engine.traits, ...traits } });
  const runtime = new LockRuntime(backend, clock);
  const giveUp = (): never => expect.fail('it was given up');
  const request = (options: LockOptions = {}, demand: Demand = EXCLUSIVE) => {
    const { terms } = new LayeredOptions(backend.traits, options);
    return new AcquireRequest(new RequestEvents(runtime, 'key', demand, terms, 0), terms, 0, giveUp);
  };
  const claimOf = (one: AcquireRequest) => claimFor(one).claim;
  return {
    clock,
    request,
    claimOf,
    claim: (options?: LockOptions, demand?: Demand) => claimOf(request(options, demand)),
  };
}

describe('a request', () => {
  test.each<[LockOptions, number, number]>([
    [{}, 0, 1],
    [{ wait: 'forever' }, 0, 0],
    [{ wait: 0.5 }, 1, 1],
    [{ wait: 100 }, 1, 1],
  ])('has a timer for its wait, by default only once it waits: %j', (options, first, waiting) => {
    const { clock, request } = setup();
    const one = request(options);
    expect(clock.pending, 'at the start').toBe(first);
    one.beginWait();
    expect(clock.pending, 'while it waits').toBe(waiting);
  });

  test('that does not wait has no timer', () => {
    const { clock, request } = setup();
    request({ wait: 0 });
    expect(clock.pending).toBe(0);
  });

  test.each<[string, (request: AcquireRequest) => void]>([
    ['is granted', (request) => request.grant(undefined)],
    ['is refused', (request) => request.refuse(new Error('refused'))],
  ])('that %s leaves no timer and no listener', async (_, settle) => {
    const { clock, request } = setup();
    const { signal } = new AbortController();
    const one = request({ wait: 60_000, signal });
    one.outcome.catch(() => {});
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    settle(one);
    expect([clock.pending, getEventListeners(signal, 'abort').length, one.state]).toEqual([0, 0, 'settled']);
  });

  const PLAIN: LockOptions = { ttl: 2_000 };
  test.each<[string, LockOptions, LockOptions, boolean]>([
    ['the same', PLAIN, PLAIN, true],
    ['another lease', PLAIN, { ttl: 3_000 }, false],
    ['another wait', { wait: 1 }, { wait: 50 }, true],
    ['no wait', { wait: 0 }, { wait: 0.5 }, false],
    ['neither waits', { wait: 0 }, { wait: 0 }, true],
    ['the same lease by minHold', { minHold: 30_000 }, {}, false],
    ['a short minHold', { minHold: 0.5 }, {}, false],
    ['two of minHold', { minHold: 1 }, { minHold: 2 }, true],
    ['a delay', { delay: 5 }, {}, false],
  ])('equals another, %s: %j and %j', (_, a, b, equal) => {
    const { request } = setup();
    expect(interchangeable(request(a), request(b))).toBe(equal);
    expect(interchangeable(request(b), request(a))).toBe(equal);
  });

  test('equals none of another kind', () => {
    const { request } = setup();
    const kinds: Demand[] = [EXCLUSIVE, WRITER, SHARED, { units: 1, capacity: 3 }, { units: 2, capacity: 3 }];
    for (const [i, a] of kinds.entries())
      for (const [j, b] of kinds.entries())
        expect(interchangeable(request({}, a), request({}, b)), `${i} and ${j}`).toBe(i === j);
  });
});

describe('its claim', () => {
  test.each<[string, Partial<Traits>, LockOptions, Demand, Record<string, unknown>]>([
    ['waits in line', {}, {}, EXCLUSIVE, { queue: true, tokenCount: 65 }],
    ['waits in no line without a wait', {}, { wait: 0 }, EXCLUSIVE, { queue: false, placeTtl: undefined }],
    ['waits in line for half a ms, too', {}, { wait: 0.5 }, EXCLUSIVE, { queue: true }],
    ['waits in no line where there is none', { fair: false }, {}, EXCLUSIVE, { queue: false, placeTtl: undefined }],
    ['reserves a token for each hand-over', {}, { handOff: { max: 3 } }, EXCLUSIVE, { tokenCount: 4 }],
    ['reserves one where nothing passes on', {}, { handOff: false }, EXCLUSIVE, { tokenCount: 1 }],
    ['reserves none beyond its own for a reader', {}, {}, SHARED, { tokenCount: 1 }],
    ['may take half of its lease', {}, { ttl: 3_000 }, EXCLUSIVE, { within: 1_500 }],
    ['may take a tenth of a second at least', {}, { ttl: 100 }, EXCLUSIVE, { within: 100 }],
    ['may take five seconds at most', {}, { ttl: 60_000 }, EXCLUSIVE, { within: 5_000 }],
    ['lingers for minHold', {}, { minHold: 0.5 }, EXCLUSIVE, { lingers: true }],
    ['lingers for a delay', {}, { delay: 0.5 }, EXCLUSIVE, { lingers: true }],
    ['does not linger else', {}, {}, EXCLUSIVE, { lingers: false }],
    ['asks for its lease and the delay', { wakes: 'never' }, { ttl: 1_000, delay: 300 }, EXCLUSIVE, { ttl: 1_300 }],
    [
      'asks for minHold, where that is longer',
      { wakes: 'never' },
      { ttl: 1_000, minHold: 9_000 },
      SHARED,
      { ttl: 9_000 },
    ],
    ['asks for no more where a session keeps it', { lifetime: 'session' }, { ttl: 1_000 }, EXCLUSIVE, { ttl: 1_000 }],
  ])('%s', (_, traits, options, demand, told) => {
    expect(setup(traits).claim(options, demand)).toMatchObject({
      key: 'key',
      units: demand.units,
      capacity: demand.capacity,
      ...told,
    });
  });

  test('lasts, where waiters are woken, through the time in which nobody asks', () => {
    const { claim } = setup({ wakes: 'watch' });
    expect(claim({ ttl: 1_000 }).ttl).toBeGreaterThan(1_000);
    expect(claim({ ttl: 1_000, wait: 0 }).ttl).toBe(1_000);
  });

  test('has an id and a number of its own', () => {
    const { claim } = setup();
    const [a, b] = [claim(), claim()];
    expect(a.id).not.toBe(b.id);
    expect(b.origin.claim).toBe(a.origin.claim + 1);
  });

  test('tells the tokenCount that it was asked in, also inside of nothing', () => {
    const { claimOf, request } = setup();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const one = request();
    one.traceparent = traceparent;
    expect(labelParts(claimOf(one).label).origin).toMatchObject({ inside: [], traceparent });
  });

  test('does not say that it looks for deadlocks inside of nothing, also where it has something else to tell', () => {
    const { claimOf, request } = setup();
    const one = request();
    one.traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    one.detects = 5;
    const claim = claimOf(one);
    expect(claim.origin.detects).toBeUndefined();
    expect(labelParts(claim.label).origin).not.toHaveProperty('detects');
  });
});

test('the claim of a caller that is inside of nothing says so, and that nothing of that was left out', () => {
  const { claim } = setup();
  const one = claim();
  expect(one.origin).toMatchObject({ inside: [], cut: false });
  expect(labelParts(one.label).origin).toMatchObject({ inside: [], cut: false });
});
