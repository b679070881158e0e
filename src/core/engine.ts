import type { Attempt, Backend, Claim, Finding, Handle, Listing, Release, Renewal, Standing } from './backend.ts';
import { Bell } from './bell.ts';
import { BusyPoll } from './busy-poll.ts';
import { CallTimeouts } from './call-timeouts.ts';
import { type Clock, type EngineClock, withoutContext } from './clock.ts';
import { Context, inNoContext } from './context.ts';
import { isLockError, LockError } from './errors.ts';
import { GoingOn } from './going-on.ts';
import { heard } from './heard.ts';
import { KeyedSerializer } from './keyed-serializer.ts';
import { parted } from './origin.ts';

/** Longest time an engine may take over one call; after it the outcome is unknown. ms. */
export const CALL_TIMEOUT = 5_000;
/** Longest time that a backend may take to close, ms: it may have requests under way that have limits of their own. */
const CLOSING = 15_000;
/** Pauses of a withdrawal whose outcome is unknown: the first, doubled up to the last. ms. */
const FIRST_RETRY = 50;
const LAST_RETRY = 2_000;

/** A backend with a limit around every call, and the one place that cleans up after calls whose outcome is unknown. */
export class Engine {
  readonly #withdrawals = new Set<Promise<void>>();
  /** How much is under way, and the bell that rings when nothing is. */
  #underWay = 0;
  #over = false;
  readonly #pauses = new Set<Bell>();
  readonly #idle: Bell;
  readonly #timeouts: CallTimeouts;
  readonly backend: Backend;
  readonly clock: EngineClock;
  /** Of one claim one after the other, whoever holds it by then: of two at once the server may take the shorter one last. */
  readonly extensions = new KeyedSerializer();

  constructor(backend: Backend, clock: Clock, busyPoll: boolean) {
    this.backend = backend;
    this.clock = withoutContext(clock);
    this.#idle = new Bell(this.clock);
    this.#timeouts = new CallTimeouts(this.clock, busyPoll ? new BusyPoll(this.clock) : undefined);
  }

  attempt(claim: Claim): Promise<Attempt> {
    return this.bounded(
      () => this.backend.attempt(claim),
      claim.within,
      () => `take ${quoted(claim.key)}`,
    );
  }

  /** An answer per claim, whatever the backend gave: without one, nobody knows. */
  async renew(claims: readonly Claim[], within: number): Promise<Renewal[]> {
    const answers = await this.bounded(
      () => this.backend.renew(claims),
      within,
      () => `renew ${claims.length} holds`,
    );
    return claims.map((_, i) => renewalOf(answers?.[i]));
  }

  release(handle: Handle, next?: Claim): Promise<Release> {
    const within = next?.within ?? CALL_TIMEOUT;
    return this.bounded(
      () => this.backend.release(handle, next),
      within,
      () => `release ${quoted(handle.key)}`,
    );
  }

  /** @throws LockError `LOCK_UNAVAILABLE` */
  evict(key: string, ticket: bigint): Promise<boolean> {
    const unknown = 'Nobody knows whether a holder was evicted: look, and try again';
    return this.#asked(key, () => this.backend.evict!(key, ticket), unknown);
  }

  /** @throws LockError `LOCK_UNAVAILABLE` */
  async *inspect(prefix: string, { exact = false, progress }: Listing = {}): AsyncIterable<Standing> {
    const caller = new Context();
    const work = new GoingOn();
    const goesOn = (looked: number): void => {
      work.moved();
      if (progress) caller.run(() => progress(looked));
    };
    const limited = (step: () => Promise<void>): Promise<void> => this.#asked(prefix, step, 'Try again');
    const standings = inNoContext(() =>
      this.backend.inspect!(prefix, { exact, progress: goesOn })[Symbol.asyncIterator](),
    );
    try {
      for (;;) {
        const { done, value } = await work.until(
          inNoContext(heard<IteratorResult<Standing>>, () => standings.next()),
          limited,
        );
        if (done) return;
        // An engine that cannot ask for one key by its name lists others, too.
        if (!exact || value.key === prefix) yield { ...value, ...parted(value.label) };
      }
    } finally {
      inNoContext(async () => standings.return?.()).catch(() => {}); // not waited for: it may hang in the very call that took too long
    }
  }

  /** @throws LockError `LOCK_UNAVAILABLE` */
  async check(): Promise<Finding[]> {
    const { name, check } = this.backend;
    if (!check) return [];
    try {
      return await this.bounded(
        () => check.call(this.backend),
        CALL_TIMEOUT,
        () => 'asked for its settings',
      );
    } catch (cause) {
      if (isLockError(cause)) throw cause;
      throw new LockError('LOCK_UNAVAILABLE', `${name} could not be checked: ${reasonOf(cause)}`, {
        backend: name,
        cause,
      });
    }
  }

  /** @throws LockError `LOCK_UNAVAILABLE`: then it may go on in the background */
  async close(): Promise<void> {
    const { backend } = this;
    try {
      await this.bounded(
        () => backend.close(),
        CLOSING,
        () => 'close',
      );
    } catch (cause) {
      if (isLockError(cause)) throw cause;
      const message = `${backend.name} could not be closed: ${reasonOf(cause)}`;
      throw new LockError('LOCK_UNAVAILABLE', message, { backend: backend.name, cause });
    }
  }

  async #asked<T>(key: string, call: () => Promise<T>, advice: string): Promise<T> {
    try {
      return await this.bounded(call, CALL_TIMEOUT, () => `look at ${quoted(key)}`);
    } catch (error) {
      throw isLockError(error) ? error : this.unavailable(key, error, advice);
    }
  }

  /**
   * Takes back, in the background, whatever this id may have been given: releases it until the engine says so, or where its
   * own lease keeps it, until that must be over. Nothing waits for it but `close`.
   * @param lateUntil until when a request may arrive that nobody answered: it is taken back then once more
   */
  withdraw(claim: Claim, lateUntil = 0): void {
    this.withdrawAt(claim, lateUntil);
    const withdrawal = this.#withdraw(claim).finally(() => this.#withdrawals.delete(withdrawal));
    this.#withdrawals.add(withdrawal);
  }

  /** At that time, if it is still to come; `close` leaves it then. */
  withdrawAt(claim: Claim, time: number): void {
    const after = time - this.clock.now();
    if (after > 0) void this.pause(after, true).then(() => this.#over || this.withdraw(claim));
  }

  async #withdraw(claim: Claim): Promise<void> {
    const lapses = this.backend.traits.keptBy === 'lease';
    const until = lapses ? this.clock.now() + claim.within + claim.ttl : Number.POSITIVE_INFINITY;
    for (let pause = FIRST_RETRY; ; pause = Math.min(pause * 2, LAST_RETRY)) {
      try {
        await this.release(claim);
        return;
      } catch (error) {
        if (!mayPass(error) || this.clock.now() >= until) return;
        await this.pause(pause, true);
        if (this.#over) return;
      }
    }
  }

  /** Whether the `Locks` were closed. */
  get over(): boolean {
    return this.#over;
  }

  /** Something begins that may have to be cleaned up when it ends. */
  begin(): void {
    this.#underWay++;
  }

  end(): void {
    if (--this.#underWay === 0) this.#idle.ring();
  }

  /** Waits on purpose; not beyond the end of it all, nor of `signal`. In the background it does not keep the process alive. */
  async pause(ms: number, background = false, signal?: AbortSignal): Promise<void> {
    if (this.#over || signal?.aborted) return;
    const bell = new Bell(this.clock);
    this.#pauses.add(bell);
    signal?.addEventListener('abort', bell.ring, { once: true });
    await bell.sleep(ms, background);
    signal?.removeEventListener('abort', bell.ring);
    this.#pauses.delete(bell);
  }

  /** Settled when nothing is under way and nothing is left to clean up, or after `PATIENCE`; then nothing more is tried. */
  async quiet(): Promise<void> {
    const limit = new Bell(this.clock);
    let over = false;
    const tooLong = limit.sleep(CALL_TIMEOUT).then(() => {
      over = true;
    });
    while (!over && (this.#underWay > 0 || this.#withdrawals.size > 0)) {
      const work = this.#underWay > 0 ? this.#idle.sleep(CALL_TIMEOUT) : Promise.all(this.#withdrawals);
      await Promise.race([work, tooLong]);
    }
    limit.ring();
    this.#idle.ring();
    this.#timeouts.rest();
    this.#over = true;
    for (const bell of this.#pauses) bell.ring();
  }

  /**
   * The call, or a rejection when it takes too long. A late answer is dropped: whoever gave up settles the outcome. It is made in
   * no caller's context: what a backend or its driver opens, arms and sends with it, others will use.
   */
  bounded<T>(call: () => Promise<T>, within: number, what: () => string): Promise<T> {
    return this.#timeouts.bound(inNoContext(heard<T>, call), within, () => {
      const obstacle = this.backend.obstacle?.();
      return new Error(`${what()}: no answer within ${within} ms${obstacle ? `; ${obstacle}` : ''}`);
    });
  }

  /** @param advice what became of it, and what to do */
  unavailable(key: string, cause: unknown, advice: string): LockError {
    const { name: backend } = this.backend;
    const message = `${backend} could not be asked for ${quoted(key)}: ${reasonOf(cause)}. ${advice}`;
    return new LockError('LOCK_UNAVAILABLE', message, { key, backend, cause });
  }
}

/** A refusal for what the server is like just now, with a full disk say, is none for good; nor is what nobody knows. */
const mayPass = (error: unknown): boolean => !isLockError(error) || error.code === 'LOCK_UNAVAILABLE';

/** Without a full stop of its own: a sentence follows. */
export const reasonOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).replace(/[.\s]+$/, '');

export const quoted = (key: string): string => JSON.stringify(key.length > 80 ? `${key.slice(0, 77)}…` : key);

const renewalOf = (answer: Renewal | undefined): Renewal =>
  answer === 'gone' || typeof (answer as { validFor?: unknown } | undefined)?.validFor === 'number'
    ? answer!
    : 'unknown';
