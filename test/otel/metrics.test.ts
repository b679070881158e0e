import type { Meter } from '@opentelemetry/api';
import { afterEach, expect, test, vi } from 'vitest';
import { lose, manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { channels } from '../../src/core/contract/events.ts';
import { createLocks, type Locks, type LocksDefaults } from '../../src/index.ts';
import { type InstrumentOptions, instrument } from '../../src/otel/index.ts';
import { metering } from './collected.ts';

const ends: Disposable[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end[Symbol.dispose]();
  vi.restoreAllMocks();
});

function scene(options: InstrumentOptions = {}, defaults: LocksDefaults = {}) {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const locks = createLocks(engine, { clock, ttl: 3_000, ...defaults });
  const { collected, meter, ...rest } = metering();
  const instrumentation = instrument(locks, { meter, ...options });
  ends.push(instrumentation);
  return { clock, engine, locks, collected, meter, instrumentation, ...rest };
}

const warnings = () => {
  const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  return () => emitWarning.mock.calls.map(([message]) => String(message));
};

test('waits and holds are measured in seconds, by kind of key and type of lock, with what came of them', async () => {
  const { clock, locks, collected } = scene();
  const order = await locks.mutex('order:42').acquire({ handOff: false });
  const waiting = locks.mutex('order:42').acquire({ handOff: { within: 5_000 } });
  const impatient = locks
    .mutex('order:42')
    .acquire({ wait: 500 })
    .catch(() => {});
  const nobody = await locks.mutex('order:42').tryAcquire();
  await clock.advance(1_500);
  await impatient;
  const now = await collected();
  expect([now['lock.waiting{kind=order,type=mutex}'], now['lock.held{kind=order,type=mutex}']]).toEqual([1, 1]);
  await order.release();
  await clock.advance(250);
  await (await waiting).release();
  expect(nobody).toBeNull();
  expect(await collected()).toEqual({
    'lock.waiting{kind=order,type=mutex}': 0,
    'lock.held{kind=order,type=mutex}': 0,
    'lock.wait.duration{kind=order,type=mutex,outcome=acquired}': { count: 2, sum: 1.5 },
    'lock.wait.duration{kind=order,type=mutex,outcome=timed_out}': { count: 1, sum: 0.5 },
    'lock.wait.duration{kind=order,type=mutex,outcome=refused}': { count: 1, sum: 0 },
    'lock.requests{kind=order,type=mutex,outcome=acquired}': 2,
    'lock.requests{kind=order,type=mutex,outcome=timed_out}': 1,
    'lock.requests{kind=order,type=mutex,outcome=refused}': 1,
    'lock.hold.duration{kind=order,type=mutex,outcome=released}': { count: 2, sum: 1.75 },
    'lock.renewal.margin{kind=order,type=mutex}': { count: 1, sum: expect.closeTo(2, 1) },
  });
});

test('readers, writers and permits are told apart, and each part of all() is counted', async () => {
  const { locks, collected } = scene();
  const leases = [
    await locks.rwLock('a:1').read.acquire(),
    await locks.rwLock('b:1').write.acquire(),
    await locks.semaphore('c:1', { permits: 3 }).acquire({ units: 2 }),
    await locks.all(['d:1', 'd:2']).acquire(),
  ];
  const held = Object.entries(await collected()).filter(([name]) => name.startsWith('lock.held'));
  expect(Object.fromEntries(held)).toEqual({
    'lock.held{kind=a,type=reader}': 1,
    'lock.held{kind=b,type=writer}': 1,
    'lock.held{kind=c,type=semaphore}': 1,
    'lock.held{kind=d,type=mutex}': 2,
  });
  for (const lease of leases) await lease.release();
});

test('a hold that is lost is counted once, though it is released afterwards; one that fails says why', async () => {
  const { locks, collected } = scene();
  const lease = await locks.mutex('job').acquire();
  lose(lease);
  await lease.release();
  await locks.close();
  await locks
    .mutex('job')
    .acquire()
    .catch(() => {});
  expect(await collected()).toEqual({
    'lock.waiting{kind=job,type=mutex}': 0,
    'lock.held{kind=job,type=mutex}': 0,
    'lock.wait.duration{kind=job,type=mutex,outcome=acquired}': { count: 1, sum: 0 },
    'lock.wait.duration{kind=job,type=mutex,outcome=failed,error.type=LOCK_CLOSED}': { count: 1, sum: 0 },
    'lock.requests{kind=job,type=mutex,outcome=acquired}': 1,
    'lock.requests{kind=job,type=mutex,outcome=failed,error.type=LOCK_CLOSED}': 1,
    'lock.hold.duration{kind=job,type=mutex,outcome=lost}': { count: 1, sum: 0 },
    'lock.lost{kind=job,type=mutex}': 1,
  });
});

test('a call inside a hold of the same lock is counted, and is no second hold', async () => {
  const { locks, collected } = scene();
  const mutex = locks.mutex('job');
  await mutex.run(() =>
    mutex.run(async () => expect((await collected())['lock.held{kind=job,type=mutex}'], 'holds').toBe(1)),
  );
  expect((await collected())['lock.requests{kind=job,type=mutex,outcome=reentered}']).toBe(1);
});

test('the events of other Locks are not counted, also on the same engine', async () => {
  const { clock, engine, collected } = scene();
  const other = createLocks(engine, { clock });
  await other.mutex('job').run(() => {});
  expect(await collected()).toEqual({});
});

test('after stop() nothing is counted, nobody listens, and the same Locks may be instrumented again', async () => {
  const { locks, collected, instrumentation, meter } = scene();
  const lease = await locks.mutex('job').acquire();
  instrumentation.stop();
  instrumentation.stop();
  await lease.release();
  const after = await collected();
  expect(Object.keys(after).filter((name) => /waiting|held/.test(name))).toEqual([]);
  expect(Object.keys(after).filter((name) => /hold/.test(name))).toEqual([]);
  using again = instrument(locks, { meter });
  instrumentation.stop();
  expect(() => instrument(locks, { meter }), 'after a late stop() of the first').toThrow('instrumented already');
  again.stop();
});

test.each<[string, (locks: Locks) => unknown, string]>([
  ['what are no Locks', () => instrument({} as Locks), 'instrument() takes Locks'],
  ['Locks that are instrumented', (locks) => instrument(locks), 'instrumented already'],
  ['an unknown option', (locks) => instrument(locks, { prefix: 'x' } as InstrumentOptions), '"prefix"'],
  ['a kindOf that is no function', (locks) => instrument(locks, { kindOf: 'x' } as never), 'kindOf is "x"'],
  ['too many kinds', (locks) => instrument(locks, { maxKinds: 1_001 }), 'from 1 to 1000'],
  ['a meter that is none', (locks) => instrument(locks, { meter: {} as Meter }), 'meter is an object'],
])('refuses %s, and says what it takes', (_title, ask, message) => {
  const { locks } = scene();
  expect(() => ask(locks)).toThrow(
    expect.objectContaining({ code: 'LOCK_INVALID', message: expect.stringContaining(message) }),
  );
});

test('what runs of memos leave is counted by its state, and a memo that keeps nothing is not', async () => {
  const { locks, collected } = scene();
  const no = (): Promise<never> => Promise.reject(new Error('no'));
  await locks.memo('price:1', { keep: '1m' }).run(() => 1);
  await locks.memo('price:1', { keep: '1m' }).run(() => 2); // has what is kept
  await locks
    .memo('price:2', { keepError: () => '1m' })
    .run(no)
    .catch(() => {});
  await locks
    .memo('price:3', { attempts: 1 })
    .run(no)
    .catch(() => {});
  await locks
    .memo('price:4')
    .run(no)
    .catch(() => {});
  const found = Object.entries(await collected()).filter(([name]) => name.startsWith('lock.memo'));
  expect(Object.fromEntries(found)).toEqual({
    'lock.memo.stored{kind=price,type=mutex,memo.state=kept}': 1,
    'lock.memo.stored{kind=price,type=mutex,memo.state=failed}': 1,
    'lock.memo.stored{kind=price,type=mutex,memo.state=poisoned}': 1,
  });
});

test('refuses Locks that are closed', async () => {
  const locks = createLocks(memory());
  await locks.close();
  expect(() => instrument(locks)).toThrow(expect.objectContaining({ code: 'LOCK_CLOSED' }));
});

test('a kindOf without an answer is said to have given undefined', async () => {
  const told = warnings();
  const { locks } = scene({ kindOf: () => undefined as never });
  await locks.mutex('order:42').run(() => {});
  expect(told()).toEqual([expect.stringContaining('kindOf gave undefined for a key; a kind is a text of')]);
});

test('a kindOf that throws, or gives no kind, counts as other, and is told once', async () => {
  const told = warnings();
  const kinds: Record<string, unknown> = { number: 7, empty: '', long: 'x'.repeat(101), good: 'good' };
  const { locks, collected } = scene({
    kindOf(key) {
      if (key === 'throws') throw new Error('no such key');
      return kinds[key] as string;
    },
  });
  for (const key of ['throws', ...Object.keys(kinds)]) await locks.mutex(key).run(() => {});
  const metrics = await collected();
  expect(metrics['lock.requests{kind=other,type=mutex,outcome=acquired}']).toBe(4);
  expect(metrics['lock.requests{kind=good,type=mutex,outcome=acquired}']).toBe(1);
  expect(told()).toEqual([expect.stringContaining('kindOf threw no such key')]);
});

test('keys without a kind of their own make no more series than maxKinds', async () => {
  const { locks, collected } = scene({ maxKinds: 3 });
  for (let i = 0; i < 10; i++) await locks.mutex(`${i}`).run(() => {});
  const counted = Object.entries(await collected()).filter(([name]) => name.startsWith('lock.requests'));
  expect(Object.fromEntries(counted)).toEqual({
    'lock.requests{kind=0,type=mutex,outcome=acquired}': 1,
    'lock.requests{kind=1,type=mutex,outcome=acquired}': 1,
    'lock.requests{kind=2,type=mutex,outcome=acquired}': 1,
    'lock.requests{kind=other,type=mutex,outcome=acquired}': 7,
  });
});

test('the ticks of a schedule are of one kind, its name', async () => {
  const { locks, collected } = scene({}, { clock: undefined });
  const tick = new Date();
  await locks.once('report', tick, () => {}, { overlap: 'skip' });
  const kinds = Object.keys(await collected()).map((name) => /kind=([^,}]*)/.exec(name)![1]);
  expect([...new Set(kinds)]).toEqual(['report']);
  await locks.close();
});

test('a meter that throws is no trouble of the lock, and is told once', async () => {
  const told = warnings();
  const { meter } = metering();
  const broken = new Proxy(meter, {
    get(target, name) {
      if (name === 'createHistogram')
        return () => ({
          record: () => {
            throw new Error('no exporter');
          },
        });
      return (target[name as keyof Meter] as () => unknown).bind(target);
    },
  });
  const { locks } = scene({ meter: broken });
  expect(await locks.mutex('job').run(() => 'done')).toBe('done');
  for (let i = 0; i < 600; i++) await locks.mutex('job').run(() => {});
  expect(told()).toEqual([expect.stringContaining('no exporter')]);
});

test('nobody listens to the channels unless instrument was called, nor after stop()', () => {
  const { instrumentation } = scene();
  const heard = () => Object.values(channels).filter(({ hasSubscribers }) => hasSubscribers).length;
  expect(heard()).toBeGreaterThan(8);
  instrumentation.stop();
  expect(heard()).toBe(0);
});
