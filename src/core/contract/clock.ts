import { AsyncResource } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { uptime } from 'node:os';

// It is imported because test environments leave out or fake the global one.
import { setImmediate } from 'node:timers';

/** Ends a timer. Later calls do nothing. */
export type Cancel = () => void;

/** The time, timers and randomness of all of holdfast. They are given to it, so that the whole can run from a seed. */
export interface Clock {
  /** A monotonic time, ms. It is compared only with itself. */
  now(): number;
  /**
   * Gives `now` after a look at a second clock, which also counts while the machine is suspended (on Linux the first one stands still
   * then). It costs more, so it is called at renewals, and when a lease is asked whether it is held. From then on `now` agrees.
   */
  resync(): number;
  /** Gives the wall-clock time, ms since 1970. It may jump, and that of another machine differs. Default: this machine's. */
  epoch?(): number;
  /** Calls `resync` if a cheap look says that the machine may have been suspended. It is a hint, and may miss that. */
  lookAgain?(): void;
  /** Calls `fn` once, about `ms` from now. A background timer does not keep the process alive; a waiter's does. */
  after(ms: number, fn: () => void, background?: boolean): Cancel;
  /** Calls `fn` after the event loop has looked for input without sleeping. Without this method nobody polls. */
  turn?(fn: () => void): void;
  /** Gives a random number of at least 0 and below 1. */
  random(): number;
  /** Gives 128 random bits as text of 32 hexadecimal digits. */
  id(): string;
}

/** A timer above 2³¹ − 1 ms fires at once in Node, so a longer one is made of several. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function inParts(ms: number, fn: () => void, background: boolean): Cancel {
  let cancel: Cancel = systemClock.after(
    MAX_TIMER_MS,
    () => {
      cancel = systemClock.after(ms - MAX_TIMER_MS, fn, background);
    },
    background,
  );
  return () => cancel();
}
/** A smaller difference between the two clocks comes from the measurement, not from a sleep. ms */
const MIN_SLEEP_MS = 250;

/**
 * Draws an id at the moment: what is drawn ahead is the same in all processes that begin from one startup snapshot. Clones of a running
 * machine share the state of the generator, too. The time keeps their ids apart, unless both draw in the same nanosecond.
 */
function randomId(): string {
  const drawn = randomBytes(16).toString('hex');
  const mixed = Number.parseInt(drawn.slice(24), 16) ^ (performance.now() * 1e6);
  return drawn.slice(0, 24) + (mixed >>> 0).toString(16).padStart(8, '0');
}

/** Calls `fn` in each process that begins from a startup snapshot, if this one is building that. What a module measured before the snapshot is out of date there. */
export function inEachClone(fn: () => void): void {
  const { startupSnapshot } = process.getBuiltinModule?.('v8') ?? {};
  if (startupSnapshot?.isBuildingSnapshot?.()) startupSnapshot.addDeserializeCallback(fn);
}

/** A clock that knows the time of day, its own or the machine's. */
export type EngineClock = Clock & Required<Pick<Clock, 'epoch'>>;

/** Wraps a given clock so that its callbacks run in no caller's context, as those of the machine's clock do: its timers are shared. */
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
/** The time by which `uptime` may be behind, ms: macOS and the BSDs tell whole seconds. */
let behind = 1_000;
let awakeSince = up() - performance.now();
/** It tells the time of this process from that of fake timers, which do not fake `uptime`: in theirs the machine never sleeps. */
let origin = performance.timeOrigin;
inEachClone(() => {
  awakeSince = up() - performance.now() - asleep;
  origin = performance.timeOrigin;
});

/** Gives the time since the start of the machine, ms. */
function up(): number {
  const seconds = uptime();
  if (!Number.isInteger(seconds)) behind = 0;
  return seconds * 1_000;
}

/** The difference between the two clocks when they were last compared. */
let wall = Date.now() - performance.now();

/** The machine's clock, its timers and its randomness: what is used unless another clock is given. */
export const systemClock: EngineClock = {
  now: () => performance.now() + asleep,
  epoch: Date.now,
  // `uptime` reads a file, which takes longer than a hand-over. The wall clock is read in no time, and also counts during a sleep.
  lookAgain() {
    if (Math.abs(Date.now() - performance.now() - wall) > MIN_SLEEP_MS) systemClock.resync();
  },
  resync() {
    if (performance.timeOrigin !== origin) return systemClock.now();
    wall = Date.now() - performance.now();
    const slept = up() - performance.now() - awakeSince - asleep;
    // A step of `behind` may be a new second, and no sleep. After a sleep the clock is rather ahead than behind, since a lease may end
    // sooner but not later.
    if (slept > MIN_SLEEP_MS + behind) asleep += slept + behind;
    return performance.now() + asleep;
  },
  after(ms, fn, background = false) {
    if (ms > MAX_TIMER_MS) return inParts(ms, fn, background);
    const timer = inNoContext(setTimeout, fn, ms);
    // The timers of a web page are numbers without `unref`: in jsdom, and in the renderer of Electron.
    if (background) (timer as Partial<NodeJS.Timeout>).unref?.();
    return () => clearTimeout(timer);
  },
  turn: (fn) => void inNoContext(setImmediate, fn),
  random: Math.random,
  id: randomId,
};

const MANUAL = { requireManualDestroy: true } as const;

/**
 * The async context of the caller that makes one: what `AsyncLocalStorage` gives there. Timers, sockets and event listeners run in the
 * context of the caller that armed, opened or triggered them. If callers share these, one of them would run in the context of another:
 * it would read the other's request and re-enter the other's locks.
 */
export class Context {
  readonly #resource = new AsyncResource('holdfast', MANUAL);

  run<T>(fn: () => T): T {
    return this.#resource.runInAsyncScope(fn);
  }
}

/** The context of nobody: it is made when the module is loaded. A snapshot of `AsyncLocalStorage` would take ten times as long. */
export const nobody = new AsyncResource('holdfast', MANUAL);

/** Calls `fn` in the context of no caller. It is for what callers share. */
export function inNoContext<A extends unknown[], T>(fn: (...args: A) => T, ...args: A): T {
  return nobody.runInAsyncScope(fn, undefined, ...args);
}
