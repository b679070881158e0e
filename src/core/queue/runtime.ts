import type { Units } from '../contract/admission.ts';
import type { Backend } from '../contract/backend.ts';
import type { Clock } from '../contract/clock.ts';
import { LockError } from '../contract/errors.ts';
import { nextNumber } from '../contract/events.ts';
import { type ProcessName, processName } from '../contract/origin.ts';
import { type Terms, withWaitUntil } from '../contract/terms.ts';
import { CALL_TIMEOUT, Engine } from '../engine/engine.ts';
import { RefusalThrottle } from '../engine/refusal-throttle.ts';
import { RequestEvents } from './acquire-request.ts';
import { AdaptiveHistory } from './adaptive-history.ts';
import { Frame, frames } from './frame.ts';
import { HeldLease } from './held-lease.ts';
import type { Hold } from './hold.ts';
import type { DeadlockWatch, LineContext } from './line-context.ts';
import { LocalLine } from './local-line.ts';
import type { LocalStanding } from './local-standing.ts';
import { Watchdog } from './watchdog.ts';

/** The number of lines that are kept for the next use of their keys, so that a busy key does not make a new one each time. */
const KEPT = 1_000;

/** The parts that one `Locks` shares across all its keys: the engine, the watchdog, and the line of each key in use. */
export class LockRuntime implements LineContext {
  readonly number: number = nextNumber('locks');
  readonly engine: Engine;
  readonly watchdog: Watchdog;
  readonly refusals: RefusalThrottle;
  readonly name: ProcessName;
  traceparent: LineContext['traceparent'];
  deadlocks: DeadlockWatch | undefined;
  /** Its memos, whose callers stand in no line while a look or a run is under way. */
  memos: { close(errorOf: (key: string) => LockError): void } | undefined;
  readonly #lines = new Map<string, LocalLine>();
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(backend: Backend, clock: Clock) {
    this.engine = new Engine(backend, clock);
    this.watchdog = new Watchdog(this.engine);
    this.name = processName(clock);
    this.refusals = new RefusalThrottle(this.engine.clock);
  }

  /** @throws LockError `LOCK_CLOSED` */
  assertOpen(key?: string): void {
    if (this.#closed) throw closedError(key, this.engine.backend.name);
  }

  /**
   * Takes units of a key. If a frame of that key is around the caller and may be re-entered, it enters that.
   * @returns undefined when `wait` is 0 and they cannot be had now, and when words have settled the request
   */
  async take(key: string, seats: Units, terms: Terms): Promise<HeldLease | undefined> {
    const { clock } = this.engine;
    const began = clock.now();
    const events = new RequestEvents(this, { key, seats, terms }, began);
    const inside = frames.getStore();
    const until = began + terms.wait;
    let left = terms;
    let now = began;
    try {
      while (inside && terms.reentrant) {
        this.assertOpen(key);
        const frame = Frame.around(this, key, seats);
        if (!frame) break;
        const lease = await frame.enter(events, left);
        if (lease === undefined) return await this.#refuse(events);
        if (lease !== 'ended') {
          events.tellEnd('reentered');
          return lease;
        }
        now = clock.now();
        left = withWaitUntil(terms, until, now);
      }
      const history = terms.adaptive && AdaptiveHistory.of(this.engine, key, terms);
      if (history) {
        const longer = await history.lengthen(left);
        now = clock.now();
        left = withWaitUntil(longer, until, now);
      }
      const hold = await this.line(key).join(events, left, now, inside);
      if (hold)
        return new HeldLease(this.engine, hold, history && (() => leaveLesson(this.engine, hold, terms, history)));
      const state = terms.inquiry?.settled;
      if (!state) return await this.#refuse(events);
      events.tellEnd('answered', undefined, state);
      return undefined;
    } catch (error) {
      events.tellFailure(error);
      return this.refusals.refuse(error);
    }
  }

  async #refuse(events: RequestEvents): Promise<undefined> {
    events.tellEnd('refused');
    await this.refusals.next();
  }

  /** @throws LockError `LOCK_CLOSED` */
  line(key: string): LocalLine {
    this.assertOpen(key);
    return this.#lines.get(key) ?? this.#newLine(key);
  }

  /** Whether a caller of this process waits for the key, and does not stand in the engine's line. */
  isWaitedFor(key: string): boolean {
    return this.#lines.get(key)?.waitedFor === true;
  }

  /** The holders and waiters of this process, key by key: for these keys, or for all. */
  localStandings(keys: Iterable<string> = this.#lines.keys()): LocalStanding[][] {
    return [...keys].flatMap((key) => {
      const line = this.#lines.get(key);
      return line && !line.idle ? [line.standings] : [];
    });
  }

  #newLine(key: string): LocalLine {
    const line: LocalLine = new LocalLine(key, this, () => {
      // Another line may have taken its place.
      if (this.#lines.size > KEPT && line.idle && this.#lines.get(key) === line) this.#lines.delete(key);
    });
    this.#lines.set(key, line);
    return line;
  }

  /** Rejects all waits, releases all holds, and closes what the backend has opened. */
  close(): Promise<void> {
    if (this.#closed) return this.#closed.promise;
    this.#closed = Promise.withResolvers();
    this.#close().then(this.#closed.resolve, this.#closed.reject);
    return this.#closed.promise;
  }

  /** Ends all waits and holds before anything else can run. A request that a listener makes in between is refused as closed. */
  async #close(): Promise<void> {
    const lines = [...this.#lines];
    this.deadlocks?.close();
    this.memos?.close((key) => closedError(key, this.engine.backend.name));
    for (const [key, line] of lines) line.close(closedError(key, this.engine.backend.name));
    for (const hold of [...this.watchdog.holds]) void hold.abandon('its Locks were closed');
    this.watchdog.close();
    await undefined; // this may be called in the middle of a release, which counts as under way only after this turn
    await this.engine.activity.quiet(CALL_TIMEOUT);
    await this.engine.close();
  }
}

/** Releases the hold, and leaves a note for the next holder that says how long the work took. */
async function leaveLesson(engine: Engine, hold: Hold, { ttl }: Terms, history: AdaptiveHistory): Promise<boolean> {
  // Both run at once, and end before the caller goes on: it may tell another caller about the release, and that one reads the lesson.
  const left = history.leave(engine.clock.now() - hold.timing.since, ttl);
  const freed = await hold.leave();
  await left;
  return freed;
}

const closedError = (key: string | undefined, backend: string): LockError =>
  new LockError('LOCK_CLOSED', `these Locks on ${backend} are closed; make new ones with createLocks()`, {
    key,
    backend,
  });
