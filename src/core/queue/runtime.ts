import type { Demand } from '../contract/admission.ts';
import type { Backend } from '../contract/backend.ts';
import type { Clock } from '../contract/clock.ts';
import { LockError } from '../contract/errors.ts';
import { nextNumber } from '../contract/events.ts';
import { type ProcessName, processName } from '../contract/origin.ts';
import { type Terms, withWaitUntil } from '../contract/terms.ts';
import { RefusalThrottle } from '../engine/back-pressure.ts';
import { CALL_TIMEOUT_MS, Engine } from '../engine/engine.ts';
import { AdaptiveHistory } from './adaptive-history.ts';
import { Frame, frames } from './frame.ts';
import { HeldLease } from './held-lease.ts';
import { KeyQueue, type LocalEntry } from './key-queue.ts';
import { type DeadlockWatch, type QueueContext, RequestEvents } from './request-events.ts';
import { Watchdog } from './watchdog.ts';

/** The parts that one `Locks` shares across all its keys: the engine, the watchdog, and the queue of each key in use. */
export class LockRuntime implements QueueContext {
  readonly number: number = nextNumber('locks');
  readonly engine: Engine;
  readonly watchdog: Watchdog;
  readonly refusals: RefusalThrottle;
  readonly name: ProcessName;
  traceparent: QueueContext['traceparent'];
  deadlocks: DeadlockWatch | undefined;
  /** The memos. While a memo looks or runs, its callers stand in no queue, so `close` ends their waits through this field. */
  memos: { close(errorOf: (key: string) => LockError): void } | undefined;
  readonly #queues = new Map<string, KeyQueue>();
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
   * Takes units of a key. If the caller runs inside a hold of this key that it may re-enter, it enters that hold again.
   * @param watched whether the caller has to release the lease: if it drops the lease instead, a warning is printed
   * @returns undefined when `wait` is 0 and the units are taken, or when a value has settled the request
   */
  async take(key: string, demand: Demand, terms: Terms, watched = false): Promise<HeldLease | undefined> {
    const { clock } = this.engine;
    const began = clock.now();
    const events = new RequestEvents(this, key, demand, terms, began);
    const inside = frames.getStore();
    const until = began + terms.wait;
    let rest = terms;
    let now = began;
    try {
      while (inside && terms.reentrant) {
        this.assertOpen(key);
        const frame = Frame.around(this, key, demand);
        if (!frame) break;
        const lease = await frame.enter(events, rest, watched);
        if (lease === undefined) return await this.#refuse(events);
        if (lease !== 'ended') {
          events.publishEnd('reentered');
          return lease;
        }
        now = clock.now();
        rest = withWaitUntil(terms, until, now);
      }
      const history = terms.adaptive && new AdaptiveHistory(this.engine, key, terms.adaptive);
      if (history) {
        const longer = await history.lengthen(rest);
        now = clock.now();
        rest = withWaitUntil(longer, until, now);
      }
      const hold = await this.queue(key).join(events, rest, now, inside && ((name) => inside.holds(name)));
      if (hold) {
        const giveBack = history && ((lease: HeldLease) => saveLesson(this.engine, lease, terms, history));
        return new HeldLease(this.engine, hold, watched, giveBack);
      }
      const state = terms.inquiry?.state;
      if (!state) return await this.#refuse(events);
      events.publishEnd('answered', undefined, state);
      return undefined;
    } catch (error) {
      events.publishFailure(error);
      return this.refusals.refuse(error);
    }
  }

  async #refuse(events: RequestEvents): Promise<undefined> {
    events.publishEnd('refused');
    await this.refusals.next();
  }

  /** @throws LockError `LOCK_CLOSED` */
  queue(key: string): KeyQueue {
    if (this.#closed) this.assertOpen(key);
    const known = this.#queues.get(key);
    if (known) return known;
    const queue = new KeyQueue(this, this.watchdog, key, this.#queues);
    this.#queues.set(key, queue);
    return queue;
  }

  /** Whether a caller of this process waits for the key here, without a claim in the engine's queue. */
  isWaitedFor(key: string): boolean {
    return this.#queues.get(key)?.isWaitedFor === true;
  }

  /** The holders and waiters of this process, key by key: for these keys, or for all. */
  localEntries(keys: Iterable<string> = this.#queues.keys()): LocalEntry[][] {
    return [...keys].flatMap((key) => {
      const queue = this.#queues.get(key);
      return queue && !queue.idle ? [queue.entries] : [];
    });
  }

  /** Rejects all waits, releases all holds, and closes what the backend has opened. */
  close(): Promise<void> {
    if (this.#closed) return this.#closed.promise;
    this.#closed = Promise.withResolvers();
    this.#close().then(this.#closed.resolve, this.#closed.reject);
    return this.#closed.promise;
  }

  /** Ends all waits and holds in this turn. A request that a listener makes meanwhile is refused as closed. */
  async #close(): Promise<void> {
    const queues = [...this.#queues];
    this.deadlocks?.close();
    this.memos?.close((key) => closedError(key, this.engine.backend.name));
    for (const [key, queue] of queues) queue.close(closedError(key, this.engine.backend.name));
    for (const hold of [...this.watchdog.holds]) {
      hold.lose('its Locks were closed');
      void hold.release();
    }
    this.watchdog.close();
    await undefined; // `close` may be called in the middle of a release, which counts as work under way only after this turn
    await this.engine.activity.quiet(CALL_TIMEOUT_MS);
    await this.engine.close();
  }
}

/** Releases the hold, and stores for the next holder how long the work took. */
async function saveLesson(
  engine: Engine,
  lease: HeldLease,
  { ttl }: Terms,
  history: AdaptiveHistory,
): Promise<boolean> {
  // The caller goes on only when both have ended. Otherwise it could cause a new request, which would read the old lesson before this one is stored.
  const saved = history.save(engine.clock.now() - lease.hold.timing.since, ttl);
  const freed = await lease.leave();
  await saved;
  return freed;
}

function closedError(key: string | undefined, backend: string): LockError {
  const message = `these Locks on ${backend} are closed; make new ones with createLocks()`;
  return new LockError('LOCK_CLOSED', message, { key, backend });
}
