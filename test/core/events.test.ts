import { afterEach, describe, expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { channels, emit, type LockEvent } from '../../src/core/contract/events.ts';
import { createLocks, type LeaderEvent } from '../../src/index.ts';
import { leaderChannels } from '../../src/leading/events.ts';
import { heard } from './heard.ts';

test('each channel has the name of its event, after holdfast: and with hyphens', () => {
  for (const [name, { name: channel }] of Object.entries(channels))
    expect(channel).toBe(`holdfast:${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
});

test('an event that nobody hears is not even made', () => {
  let made = 0;
  const make = (): LockEvent => {
    made++;
    return {} as LockEvent;
  };
  emit('lost', undefined, make);
  expect(made).toBe(0);
  using _ = heard('lost');
  emit('lost', undefined, make);
  expect(made).toBe(1);
});

test('a hold tells how it came, how it was kept and how it went, with its token and never its id', async () => {
  using events = heard('waiting', 'acquired', 'handedOver', 'renewed', 'released', 'lost');
  const clock = manualClock(1);
  const locks = createLocks(memory({ clock }), { clock, ttl: 900, label: 'test' });
  const first = await locks.mutex('key').acquire({ handOff: { within: 1_000 } });
  const waiting = locks.mutex('key').acquire();
  await clock.advance(310);
  await first.release();
  const second = await waiting;
  await second.release();
  expect(events.names).toEqual(['acquired', 'waiting', 'renewed', 'released', 'handedOver', 'released']);
  const tokens = (events.events as LockEvent[]).map(({ token }) => token);
  expect(tokens).toEqual([first.token, undefined, first.token, first.token, second.token, second.token]);
  expect((events.events[4] as LockEvent).duration, 'ms from the wish to the hand-over').toBeCloseTo(310);
  expect(Object.keys(Object.assign({}, ...events.events))).not.toContain('id');
});

test('what passes from hand to hand tells the label of whoever has it', async () => {
  using events = heard('waiting', 'acquired', 'handedOver', 'released');
  const clock = manualClock(1);
  const locks = createLocks(memory({ clock }), { clock });
  const first = await locks.mutex('key').acquire({ label: 'first' });
  const waiting = locks.mutex('key').acquire({ label: 'second' });
  await first.release();
  await (await waiting).release();
  const told = (events.events as LockEvent[]).map(({ label }, i) => `${events.names[i]} ${label}`);
  expect(told).toEqual(['acquired first', 'waiting second', 'released first', 'handedOver second', 'released second']);
  await locks.close();
});

test('a loss is told once, with the error that the signal has', async () => {
  using events = heard('lost');
  const clock = manualClock(1);
  const engine = memory({ clock });
  const lease = await createLocks(engine, { clock, ttl: 900 }).mutex('key').acquire();
  await engine.evict!('key', lease.token);
  await clock.advance(3_000);
  expect(events.names).toEqual(['lost']);
  expect((events.events[0] as LockEvent).error).toBe(lease.signal.reason);
});

test('the parts of all() share a number that no request has, and other locks have none', async () => {
  using events = heard('acquired');
  const locks = createLocks(memory());
  for (const parts of [['a', 'b'], ['c']]) await locks.all(parts).run(() => {});
  await locks.mutex('d').run(() => {});
  const told = events.events as LockEvent[];
  const [a, b, c, d] = told.map(({ all }) => all);
  expect([a === b, a === c, typeof a, d]).toEqual([true, false, 'number', undefined]);
  expect(new Set([...told.map(({ request }) => request), a, c]).size).toBe(6);
  await locks.close();
});

test('a renewal tells how much of the lease was left, a lock its type, and an election the request of its lock', async () => {
  using events = heard('acquired', 'renewed');
  const terms: LeaderEvent[] = [];
  const elected = (message: unknown): void => void terms.push(message as LeaderEvent);
  leaderChannels.elected.subscribe(elected);
  const clock = manualClock(1);
  const locks = createLocks(memory({ clock }), { clock, ttl: 900 });
  const lease = await locks.rwLock('key').write.acquire();
  await clock.advance(310);
  await lease.release();
  await locks.leader('name', { autoCampaign: false }).run(() => {});
  leaderChannels.elected.unsubscribe(elected);
  const [acquired, renewed, ofTerm] = events.events as [LockEvent, LockEvent, LockEvent];
  expect([acquired.type, acquired.margin, ofTerm.type]).toEqual(['writer', undefined, 'mutex']);
  expect(renewed.margin, 'a third of it was over').toBeCloseTo(600, -2);
  expect(terms).toMatchObject([
    { version: 1, locks: locks.number, request: ofTerm.request, name: 'name', duration: 0 },
  ]);
});

describe('numbers of Locks and of requests', () => {
  const COUNTERS = Symbol.for('holdfast.counters');
  const shared = globalThis as { [COUNTERS]?: { locks: number; requests: number } };
  const own = shared[COUNTERS];
  afterEach(() => {
    shared[COUNTERS] = own;
  });

  test('begin at 1, and go on over all copies of the package, of whatever version', async () => {
    shared[COUNTERS] = undefined;
    const first: typeof import('../../src/core/contract/events.ts') = await import(
      // @ts-expect-error a query makes it another module
      '../../src/core/contract/events.ts?first'
    );
    expect([first.nextNumber('locks'), first.nextNumber('requests'), first.nextNumber('requests')]).toEqual([1, 1, 2]);
    expect(shared[COUNTERS], 'under a mark that never changes').toEqual({ locks: 1, requests: 2 });
    const second: typeof import('../../src/core/contract/events.ts') = await import(
      // @ts-expect-error a query makes it another module
      '../../src/core/contract/events.ts?second'
    );
    expect([second.nextNumber('locks'), second.nextNumber('requests')]).toEqual([2, 3]);
    expect([first.nextNumber('locks'), first.nextNumber('requests')]).toEqual([3, 4]);
  });
});
