import { AsyncResource } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { uptime } from 'node:os';

// `setImmediate` is imported because some test environments leave out or fake the global function.
import { setImmediate } from 'node:timers';

/** Ends a timer. Later calls do nothing. */
export type Cancel = () => void;

/** The time, timers and randomness of holdfast. They come from outside, so that a simulation can run from a seed. */
export interface Clock {
  /** A monotonic time, ms. It is compared only with times of this clock. */
  now(): number;
  /**
   * Corrects `now` by a second clock, and gives the new time. The second clock also counts while the machine is suspended; on Linux the first clock
   * stands still then. The second clock costs more, so core calls this only at renewals, and when a caller asks a lease whether it is held.
   */
  resync(): number;
  /** Gives the wall-clock time, ms since 1970. This clock may jump, and differs between machines. Default: this machine's. */
  epoch?(): number;
  /** Calls `resync` if a cheap check says that the machine may have been suspended. The check may miss a suspension. */
  lookAgain?(): void;
  /** Calls `fn` once, about `ms` from now. A background timer does not keep the process alive; a waiter's does. */
  after(ms: number, fn: () => void, background?: boolean): Cancel;
  /** Calls `fn` after the event loop has looked for input without sleeping. Default: that of this machine. */
  turn?(fn: () => void): void;
  /** Gives a random number of at least 0 and below 1. */
  random(): number;
  /** Gives 128 random bits as text of 32 hexadecimal digits. */
  id(): string;
}

/** A timer above 2³¹ − 1 ms fires at once in Node, so a longer one is made of several. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function inParts(ms: number, fn: () => void, background: boolean): Cancel {
  const goOn = (): void => {
    cancel = systemClock.after(ms - MAX_TIMER_MS, fn, background);
  };
  let cancel: Cancel = systemClock.after(MAX_TIMER_MS, goOn, background);
  return () => cancel();
}
/** The smallest difference between the two clocks that means a sleep, ms. A smaller one is an error of measurement. */
const MIN_SLEEP_MS = 250;

/** The hexadecimal digits of each byte. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const ID_BYTES = 16;
/** Random bytes for the next ids, and the same as digits. A call of the generator takes longer than all other work of an id. */
let bytes = randomBytes(0);
let digits = '';
let used = 0;

/** Clones of a running machine share these bytes and the generator. So the time is mixed in: ids differ unless both draw in the same nanosecond. */
function randomId(): string {
  if (used === bytes.length) {
    bytes = randomBytes(64 * ID_BYTES);
    digits = bytes.toString('hex');
    used = 0;
  }
  const time = performance.now() * 1e6;
  let mixed = '';
  for (let i = 0; i < 4; i++) mixed += HEX[bytes[used + i]! ^ ((time >>> (8 * i)) & 0xff)];
  used += ID_BYTES;
  return mixed + digits.slice(2 * used - 24, 2 * used);
}

/** If this process builds a startup snapshot, calls `fn` in each process that begins from it: what a module measured before is out of date there. */
export function inEachClone(fn: () => void): void {
  const { startupSnapshot } = process.getBuiltinModule?.('v8') ?? {};
  if (startupSnapshot?.isBuildingSnapshot?.()) startupSnapshot.addDeserializeCallback(fn);
}

/** A clock that knows the time of day, its own or the machine's. */
export type EngineClock = Clock & Required<Pick<Clock, 'epoch'>>;

/** Wraps a clock so that its callbacks run in the async context of no caller, as the callbacks of `systemClock` do: several callers share a timer. */
export function withoutContext(clock: Clock): EngineClock {
  if (clock === systemClock) return systemClock;
  return {
    now: () => clock.now(),
    resync: () => clock.resync(),
    epoch: () => clock.epoch?.() ?? systemClock.epoch(),
    ...(clock.lookAgain && { lookAgain: () => clock.lookAgain!() }),
    after: (ms, fn, background) => clock.after(ms, () => inNoContext(fn), background),
    ...(clock.turn && { turn: (fn) => clock.turn!(() => inNoContext(fn)) }),
    random: () => clock.random(),
    id: () => clock.id(),
  };
}

let asleep = 0;
/** The time by which `uptime` may be behind, ms: macOS and the BSDs give whole seconds. */
let behind = 1_000;
let awakeSince = up() - performance.now();
/** If `performance.timeOrigin` changes, a test has fake timers. They do not fake `uptime`, so a sleep cannot be measured then. */
let origin = performance.timeOrigin;
inEachClone(() => {
  awakeSince = up() - performance.now() - asleep;
  origin = performance.timeOrigin;
  used = bytes.length; // or all processes of one snapshot would draw the same ids
});

/** Gives the time since the start of the machine, ms. */
function up(): number {
  const seconds = uptime();
  if (!Number.isInteger(seconds)) behind = 0;
  return seconds * 1_000;
}

/** The difference between the wall clock and `performance.now()` when they were last compared, ms. */
let wall = Date.now() - performance.now();

/** The machine's clock, its timers and its randomness: what is used unless another clock is given. */
export const systemClock: EngineClock = {
  now: () => performance.now() + asleep,
  epoch: Date.now,
  // `uptime` reads a file, which takes longer than a hand-over. The wall clock costs next to nothing, and also counts during a sleep.
  lookAgain() {
    if (Math.abs(Date.now() - performance.now() - wall) > MIN_SLEEP_MS) systemClock.resync();
  },
  resync() {
    if (performance.timeOrigin !== origin) return systemClock.now();
    wall = Date.now() - performance.now();
    const slept = up() - performance.now() - awakeSince - asleep;
    // A difference of up to `behind` may be just the next whole second of `uptime`, and no sleep. After a sleep `behind` is added, so that this clock
    // may be ahead, but never behind: a lease may end too early, but never too late.
    if (slept > MIN_SLEEP_MS + behind) asleep += slept + behind;
    return performance.now() + asleep;
  },
  after(ms, fn, background = false) {
    if (ms > MAX_TIMER_MS) return inParts(ms, fn, background);
    const timer = inNoContext(setTimeout, fn, ms);
    // In jsdom and in the renderer of Electron a timer is a number, which has no `unref`.
    if (background) (timer as Partial<NodeJS.Timeout>).unref?.();
    return () => clearTimeout(timer);
  },
  turn: (fn) => void inNoContext(setImmediate, fn),
  random: Math.random,
  id: randomId,
};

const MANUAL = { requireManualDestroy: true } as const;

/**
 * The async context of the caller that makes this object. In it `AsyncLocalStorage` gives what that caller has set. Timers, sockets and event
 * listeners run in the context of the caller that armed, opened or triggered them. If callers share a timer, the work of one caller would run in the
 * context of another: it would read the request of the other caller, and re-enter its locks.
 */
export class Context {
  readonly #resource = new AsyncResource('holdfast', MANUAL);

  run<T>(fn: () => T): T {
    return this.#resource.runInAsyncScope(fn);
  }
}

/** The context of no caller, made when the module is loaded. A snapshot of `AsyncLocalStorage` would take ten times as long. */
export const nobody = new AsyncResource('holdfast', MANUAL);

/** Calls `fn` in the context of no caller: for work that callers share. */
export function inNoContext<A extends unknown[], T>(fn: (...args: A) => T, ...args: A): T {
  return nobody.runInAsyncScope(fn, undefined, ...args);
}
