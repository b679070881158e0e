import { removeUser } from '../contract/all-copies.ts';
import type {
  Attempt,
  Backend,
  Claim,
  Finding,
  Handle,
  Listing,
  NewValue,
  QueueEntry,
  Release,
  Renewal,
  ValueRecord,
} from '../contract/backend.ts';
import { type Clock, type EngineClock, nobody, withoutContext } from '../contract/clock.ts';
import { counted, inMs, isLockError, LockError, quoted, reasonOf } from '../contract/errors.ts';
import { labelParts } from '../contract/origin.ts';
import { KeyedSerializer, onAbort } from '../contract/promises.ts';
import { printable } from '../contract/visible.ts';
import { Unawaited } from './back-pressure.ts';
import { CallTimeouts } from './call-timeouts.ts';
import { Sleeper } from './listener.ts';
import { listed } from './listing.ts';

/** The work under way on an engine, and the pauses in it. */
export class Activity {
  readonly #clock: Clock;
  readonly #pauses = new Set<Sleeper>();
  /** The sleeper in which `quiet` waits until no work is under way. Undefined before a call of `quiet`. */
  #idle: Sleeper | undefined;
  #underWay = 0;
  /** Whether the `Locks` were closed. */
  over = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins work that may have to be cleaned up when it ends. */
  begin(): void {
    this.#underWay++;
  }

  end(): void {
    if (--this.#underWay === 0) this.#idle?.wake();
  }

  /** Pauses until the time is over, `quiet` has returned, or `signal` aborts. A pause in the `background` does not keep the process alive. */
  async pause(ms: number, background = false, signal?: AbortSignal): Promise<void> {
    if (this.over) return;
    const sleeper = new Sleeper(this.#clock);
    this.#pauses.add(sleeper);
    const unlisten = signal && onAbort(signal, sleeper.wake);
    await sleeper.sleep(ms, background);
    unlisten?.();
    this.#pauses.delete(sleeper);
  }

  /** Resolves when no work is under way, at the latest after `limit` ms. From then on no work is tried again. */
  async quiet(limit: number): Promise<void> {
    const until = this.#clock.now() + limit;
    this.#idle = new Sleeper(this.#clock);
    for (let rest = limit; this.#underWay > 0 && rest > 0; rest = until - this.#clock.now())
      await this.#idle.sleep(rest);
    this.over = true;
    for (const sleeper of this.#pauses) sleeper.wake();
  }
}

/** The longest time that an engine may take for one call, ms. After this time the outcome is unknown. */
export const CALL_TIMEOUT_MS = 5_000;
/** The longest time that a backend may take to close, ms. It may wait for requests that have limits of their own. */
const CLOSE_TIMEOUT_MS = 15_000;

/** A backend with a limit around every call. */
export class Engine {
  readonly backend: Backend;
  readonly clock: EngineClock;
  readonly activity: Activity;
  readonly #timeouts: CallTimeouts;
  /** The extensions of a claim go one after the other. If two were under way, the server might apply the shorter extension last. */
  readonly extensions = new KeyedSerializer();
  readonly unawaited = new Unawaited();

  constructor(backend: Backend, clock: Clock) {
    this.backend = backend;
    this.clock = withoutContext(clock);
    this.activity = new Activity(this.clock);
    this.#timeouts = new CallTimeouts(this.clock);
  }

  /** @param sent the time now, where the caller knows it */
  attempt(claim: Claim, sent?: number): Promise<Attempt> {
    const { key, within } = claim;
    const why = within < CALL_TIMEOUT_MS ? OF_LEASE : '';
    return this.limit(() => this.backend.attempt(claim), within, 'take', key, why, sent);
  }

  /** Gives an answer per claim, also if the backend gave fewer. A missing answer is `unknown`. */
  async renew(claims: readonly Claim[], within: number): Promise<Renewal[]> {
    const act = `renew ${counted(claims.length, 'hold')}`;
    const answers = await this.limit(() => this.backend.renew(claims), within, act);
    return claims.map((_, i) => renewalOf(answers?.[i]));
  }

  /** @param sent the time now, where the caller knows it */
  release(handle: Handle, next?: Claim, sent?: number): Promise<Release> {
    const within = next?.within ?? CALL_TIMEOUT_MS;
    const why = within < CALL_TIMEOUT_MS ? `${OF_LEASE} of the next claim` : '';
    return this.limit(() => this.backend.release(handle, next), within, 'release', handle.key, why, sent);
  }

  store(handle: Handle, value: NewValue): Promise<boolean> {
    return this.limit(() => this.backend.store!(handle, value), CALL_TIMEOUT_MS, 'release', handle.key);
  }

  /** @throws LockError `LOCK_UNAVAILABLE` */
  evict(key: string, token: bigint): Promise<boolean> {
    const unknown = 'Nobody knows whether a holder was evicted: look, and try again';
    return this.#ask(key, () => this.backend.evict!(key, token), unknown);
  }

  /** @throws LockError `LOCK_UNAVAILABLE` */
  look(key: string): Promise<ValueRecord> {
    return this.#ask(key, () => this.backend.values!.look(key), 'Try again');
  }

  /** @throws LockError `LOCK_UNAVAILABLE` */
  forget(key: string): Promise<boolean> {
    return this.#ask(key, () => this.backend.values!.forget(key), 'Nobody knows whether it was forgotten: try again');
  }

  /** @throws LockError `LOCK_UNAVAILABLE` */
  async *inspect(prefix: string, { exact = false, progress }: Listing = {}): AsyncIterable<QueueEntry> {
    const list = (step: (looked: number) => void) => this.backend.inspect!(prefix, { exact, progress: step });
    // An engine that cannot ask for one key by its name lists other keys, too.
    for await (const entry of this.#list(prefix, list, progress))
      if (!exact || entry.key === prefix) yield printable({ ...entry, ...labelParts(entry.label) });
  }

  /** The keys of memos. @throws LockError `LOCK_UNAVAILABLE` */
  remembered(prefix: string, progress?: Listing['progress']): AsyncIterable<string> {
    return this.#list(prefix, (step) => this.backend.values!.keys!(prefix, step), progress);
  }

  #list<T>(prefix: string, list: Parameters<typeof listed<T>>[0], progress: Listing['progress']): AsyncIterable<T> {
    return listed(list, (call) => this.#ask(prefix, call, 'Try again'), progress);
  }

  /** @throws LockError `LOCK_UNAVAILABLE` */
  async check(): Promise<Finding[]> {
    const { backend } = this;
    if (!backend.check) return [];
    return this.#askEngine(() => backend.check!(), CALL_TIMEOUT_MS, 'checked', 'asked for its settings');
  }

  /**
   * Closes the backend, unless other `Locks` use it.
   * @throws LockError `LOCK_UNAVAILABLE`: then the backend may go on closing in the background
   */
  close(): Promise<void> {
    this.#timeouts.endTimers();
    return this.#askEngine(() => removeUser(this.backend), CLOSE_TIMEOUT_MS, 'closed', 'close');
  }

  /** Makes a call that is about no key. */
  async #askEngine<T>(call: () => Promise<T>, within: number, done: string, what: string): Promise<T> {
    try {
      return await this.limit(call, within, what);
    } catch (cause) {
      if (isLockError(cause)) throw cause;
      const { name } = this.backend;
      const message = `${name} could not be ${done}: ${reasonOf(cause)}`;
      throw new LockError('LOCK_UNAVAILABLE', message, { backend: name, cause });
    }
  }

  #ask<T>(key: string, call: () => Promise<T>, advice: string): Promise<T> {
    return this.limit(call, CALL_TIMEOUT_MS, 'look at', key).catch((error) => {
      throw isLockError(error) ? error : this.unavailable(key, error, advice);
    });
  }

  /**
   * Makes the call, and rejects when the answer takes too long. A later answer is dropped, since the caller finds out the outcome by another
   * call. The call runs in the async context of no caller: other callers use the connections and timers that a backend makes in the call.
   * @param why where the limit comes from, for the error
   * @param sent the time now, where the caller knows it
   */
  limit<T>(
    call: () => Promise<T>,
    within: number,
    act: string,
    key?: string,
    why = '',
    sent: number = this.clock.now(),
  ): Promise<T> {
    const expired = (): Error => {
      const obstacle = orUndefined(() => this.backend.obstacle?.());
      const what = key === undefined ? act : `${act} ${quoted(key)}`;
      return new Error(`${what}: no answer within ${inMs(within)}${why}${obstacle ? `; ${obstacle}` : ''}`);
    };
    return this.#timeouts.bound(nobody.runInAsyncScope(promiseOf<T>, undefined, call), within, expired, sent);
  }

  /** Makes the error of an engine that did not answer. @param advice the state of the request, and what the caller can do */
  unavailable(key: string, cause: unknown, advice = 'What it may have done is being undone; try again'): LockError {
    const { name: backend } = this.backend;
    const message = `${backend} could not be asked for ${quoted(key)}: ${reasonOf(cause)}. ${advice}`;
    return new LockError('LOCK_UNAVAILABLE', message, { key, backend, cause });
  }
}

/** Gives an answer of a backend; undefined if the backend throws, as one of a user may. */
export function orUndefined<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** Gives the promise of a call, also if the call throws or gives no promise, as a backend in JavaScript may. An async function would settle later. */
export function promiseOf<T>(call: () => Promise<T>): Promise<T> {
  try {
    return Promise.resolve(call()); // a promise stays the same promise
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Ends the error message if the lease set the limit of an attempt: a longer lease gives more time. */
const OF_LEASE = ', half of the lease';

/** Gives `unknown` for no answer, and for a wrong one: a backend that a user wrote may give any answer. */
export function renewalOf(answer: Renewal | undefined): Renewal {
  const { validFor } = Object(answer);
  return answer === 'gone' || (typeof validFor === 'number' && validFor >= 0) ? answer! : 'unknown';
}
