import { afterAll, expect, test } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { type ManualClock, manualClock } from '../../products/testing/index.ts';
import { randomFrom } from '../../products/testing/random.ts';
import { memory } from '../../src/backends/memory.ts';
import type { channels, LockEvent } from '../../src/core/contract/events.ts';
import { type AnyLease, createLocks, isLockError, type Lock, type Locks } from '../../src/index.ts';
import { heard } from './heard.ts';

const ENDS = ['acquired', 'handedOver', 'reentered', 'refused', 'timedOut', 'aborted', 'failed'] as const;
const HELD = ['renewed', 'renewalFailed', 'lost', 'released'] as const;
const ALL: readonly (keyof typeof channels)[] = ['waiting', ...ENDS, ...HELD];

type Told = { readonly name: keyof typeof channels; readonly event: LockEvent };

/** An engine that now and then answers late, or not at all. */
function shaky(clock: ManualClock, random: () => number) {
  const engine = memory({ clock });
  const late = <T>(call: () => Promise<T>): Promise<T> => {
    const chance = random();
    if (chance < 0.03) return call().then(() => Promise.reject(new Error('the answer was lost')));
    if (chance < 0.3)
      return new Promise((resolve, reject) => clock.after(random() * 40, () => call().then(resolve, reject)));
    return call();
  };
  return around(engine, {
    attempt: (claim) => late(() => engine.attempt(claim)),
    renew: (claims) => late(() => engine.renew(claims)),
    release: (handle, next) => late(() => engine.release(handle, next)),
  });
}

/** Callers who ask for anything, inside of one another too. What each of them was answered, by its label. */
class Load {
  readonly answers = new Map<string, string>();
  /** Of those who asked for one key, once. */
  readonly single = new Set<string>();
  readonly #locks: Locks;
  readonly #clock: ManualClock;
  readonly #random: () => number;
  #callers = 0;

  constructor(locks: Locks, clock: ManualClock, random: () => number) {
    this.#locks = locks;
    this.#clock = clock;
    this.#random = random;
  }

  async caller(depth = 0): Promise<void> {
    const label = `caller ${this.#callers++}`;
    const random = this.#random;
    const signal = random() < 0.2 ? this.#abortedLater() : undefined;
    const wait = random() < 0.1 ? 0 : random() < 0.7 ? 1 + random() * 300 : undefined;
    const options = { label, signal, wait, ttl: 300, renew: random() < 0.8, detect: random() < 0.3 };
    const lock = this.#lock(label);
    const answer = (what: string): void => void this.answers.set(label, what);
    const work = async (lease: AnyLease): Promise<void> => {
      answer('granted');
      if (depth < 2 && random() < 0.5) await Promise.all([this.caller(depth + 1), this.caller(depth + 1)]);
      else await this.#pause(random() < 0.1 ? 900 : random() * 60);
      if (random() < 0.1) await lease.extend(500).catch(() => {});
      if (random() < 0.2) await lease.release();
    };
    try {
      if (random() < 0.25) {
        const { wait: _, ...rest } = options;
        const lease = await lock.tryAcquire(rest);
        if (!lease) return answer('refused');
        await work(lease).finally(() => lease.release());
      } else await lock.run(work, options);
    } catch (error) {
      if (!isLockError(error)) throw error;
      answer(wait === 0 && error.code === 'LOCK_TIMEOUT' ? 'refused' : error.code);
    }
  }

  #lock(label: string): Lock {
    const random = this.#random;
    const key = `key ${Math.floor(random() * 4)}`;
    const kind = random();
    if (kind < 0.2) return this.#locks.all(['key 1', this.#locks.rwLock('key 2').read, 'key 3']);
    this.single.add(label);
    if (kind < 0.6) return this.#locks.mutex(key);
    if (kind < 0.7) return this.#locks.rwLock(key).write as Lock;
    if (kind < 0.85) return this.#locks.rwLock(key).read;
    return this.#locks.semaphore(`${key}, permits`, { permits: 2 });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }

  #abortedLater(): AbortSignal {
    const controller = new AbortController();
    this.#clock.after(this.#random() * 200, () => controller.abort(new Error('enough')));
    return controller.signal;
  }
}

/** What a caller was answered, as the end of its request tells it. */
const ANSWERS: Readonly<Record<(typeof ENDS)[number], string>> = {
  acquired: 'granted',
  handedOver: 'granted',
  reentered: 'granted',
  refused: 'refused',
  timedOut: 'LOCK_TIMEOUT',
  aborted: 'LOCK_ABORTED',
  failed: 'another error',
};

/** What all the loads together brought about. */
const seen = new Set<string>();
afterAll(() => {
  expect(
    ALL.filter((name) => !seen.has(name)),
    'never told',
  ).toEqual([]);
});

/** What is wrong with all that was told of one request. */
function wrong(told: readonly Told[]): string[] {
  const names = told.map(({ name }) => name);
  const ends = names.filter((name) => (ENDS as readonly string[]).includes(name));
  const [end] = ends;
  const found: string[] = [];
  if (ends.length !== 1) found.push(`ends ${ends.length} times: ${names}`);
  if (names.lastIndexOf('waiting') > 0) found.push(`waits twice, or after its end: ${names}`);
  const after = names.slice(names.indexOf(end!) + 1);
  const held = end === 'acquired' || end === 'handedOver';
  if (held !== after.some((name) => name === 'released' || name === 'lost'))
    found.push(`${held ? 'a hold does not end' : 'ends, and goes on'}: ${names}`);
  for (const last of ['released', 'lost'])
    if (after.filter((name) => name === last).length > 1) found.push(`is ${last} twice: ${names}`);
  if (after.includes('released') && after.indexOf('released') < after.length - 1)
    found.push(`goes on after its release: ${names}`);
  for (const field of ['type', 'key', 'label', 'locks', 'all', 'units'] as const)
    if (new Set(told.map(({ event }) => event[field])).size > 1) found.push(`changes its ${field}: ${names}`);
  for (const { name, event } of told) {
    if (event.version !== 1) found.push(`${name} has no version`);
    const timed = name !== 'waiting' && name !== 'renewed' && name !== 'renewalFailed';
    if (timed !== (event.duration !== undefined && event.duration >= 0)) found.push(`${name} lasted ${event.duration}`);
    const kept = name === 'renewed' || name === 'renewalFailed';
    if (kept !== (event.margin !== undefined && event.margin >= 0)) found.push(`${name} had ${event.margin} ms left`);
  }
  return found;
}

test.each(
  Array.from({ length: 12 }, (_, seed) => seed + 1),
)('each request tells its end once, what its caller was answered, and each hold its end: seed %i', async (seed) => {
  using events = heard(...ALL);
  const random = randomFrom(seed);
  const clock = manualClock(seed);
  const locks = createLocks(shaky(clock, random), { clock, spin: { pause: 1, bound: 20 }, handOff: { within: 500 } });
  const other = createLocks(memory({ clock }), { clock });
  const load = new Load(locks, clock, random);
  const callers: Promise<void>[] = [];
  for (let i = 0; i < 60; i++) {
    callers.push(load.caller());
    await clock.advance(random() * 15);
  }
  await clock.advance(200);
  const closed = locks.close(); // in the middle of it: a third of the callers still hold or wait
  const last = load.caller();
  await clock.advance(60_000);
  await Promise.all([...callers, last, closed]);

  for (const name of events.names) seen.add(name);
  const requests = new Map<number, Told[]>();
  for (const [i, event] of (events.events as LockEvent[]).entries()) {
    const told = requests.get(event.request) ?? [];
    requests.set(event.request, [...told, { name: events.names[i] as Told['name'], event }]);
  }
  const problems = [...requests].flatMap(([number, told]) => wrong(told).map((what) => `request ${number} ${what}`));
  expect(problems).toEqual([]);
  const owners = new Set((events.events as LockEvent[]).map((event) => event.locks));
  expect([...owners], 'whose events they are').toEqual([locks.number]);
  expect(other.number).not.toBe(locks.number);

  for (const told of requests.values()) {
    const [{ event }] = told as [Told];
    if (!load.single.has(event.label)) continue;
    const end = told.find(({ name }) => (ENDS as readonly string[]).includes(name))!;
    const answer = load.answers.get(event.label)!;
    const expected = ANSWERS[end.name as (typeof ENDS)[number]];
    const same = expected === 'another error' ? /^LOCK_(?!TIMEOUT|ABORTED)/.test(answer) : answer === expected;
    expect(same, `${event.label} was answered ${answer}, and its request told ${end.name}`).toBe(true);
  }
  const told = new Set([...requests.values()].map(([first]) => first!.event.label));
  expect([...load.answers.keys()].filter((label) => !told.has(label))).toEqual([]);
});
