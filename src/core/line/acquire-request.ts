import type { NumberedClaim } from '../claims/numbered-claim.ts';
import type { QueuedClaim } from '../claims/queued-claim.ts';
import type { Seats } from '../contract/admission.ts';
import type { Cancel, Clock } from '../contract/clock.ts';
import { LockError } from '../contract/errors.ts';
import type { ResolvedOptions } from '../contract/options.ts';
import { type Circumstances, type Enclosing, MOST_ENCLOSING } from '../contract/origin.ts';
import { quoted, reasonOf } from '../engine/engine.ts';
import type { Hold } from '../holds/hold.ts';
import type { Frame } from './reentrancy.ts';
import type { RequestEvents } from './request-events.ts';
import type { LockRuntime } from './runtime.ts';

const NOBODY: readonly never[] = [];

/** One caller waiting for one key in this process. Settled once: granted, refused, or given up. */
export class AcquireRequest {
  readonly key: string;
  readonly seats: Seats;
  readonly resolved: ResolvedOptions;
  readonly began: number;
  /** What is told of it and its hold. */
  readonly events: RequestEvents;
  /** Its claim in the engine's line, once it stands there. */
  queued: QueuedClaim | undefined;
  /** Of its claim, once it has one; in a look at those who wait here, of what will be its claim. */
  number: number | undefined;
  /** When it began to wait, ms since 1970, if it asked to be told of a deadlock. */
  detects: number | undefined;
  /** The span that it belongs to, for whoever lists it. */
  traceparent: string | undefined;
  /** What the caller is inside of, until this is settled: a hold must not keep what its caller was inside of. */
  #around: Frame | undefined;
  #named: readonly Hold[] = NOBODY;
  readonly outcome: Promise<Hold | undefined>;
  #resolve!: (hold: Hold | undefined) => void;
  #reject!: (error: unknown) => void;
  #cancel: Cancel | undefined;
  #unlisten: (() => void) | undefined;
  #state: 'asked' | 'waiting' | 'settled' = 'asked';

  constructor(events: RequestEvents, resolved: ResolvedOptions, now: number, around?: Frame) {
    this.key = events.key;
    this.#around = around;
    this.seats = events.seats;
    this.events = events;
    this.resolved = resolved;
    this.began = now;
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Its limits, `wait` and `signal`: `giveUp` gets the error to refuse it with. */
  limit(clock: Clock, backend: string, giveUp: (error: LockError) => void): void {
    const { wait, signal } = this.resolved;
    if (signal?.aborted) {
      giveUp(aborted(this));
      return;
    }
    if (wait > 0 && wait < Number.POSITIVE_INFINITY) {
      this.#cancel = clock.after(wait, () => giveUp(timedOut(this, backend)));
    }
    if (!signal) return;
    const abort = () => giveUp(aborted(this));
    signal.addEventListener('abort', abort, { once: true });
    this.#unlisten = () => signal.removeEventListener('abort', abort);
  }

  grant(hold: Hold | undefined): void {
    this.#settle();
    this.#resolve(hold);
  }

  refuse(error: unknown): void {
    this.#settle();
    this.#reject(error);
  }

  get settled(): boolean {
    return this.#state === 'settled';
  }

  #settle(): void {
    this.#state = 'settled';
    this.#around = undefined;
    for (const hold of this.#named) hold.waitsInside--;
    this.#named = NOBODY;
    this.#cancel?.();
    this.#unlisten?.();
  }

  /** What its claim, to an engine of `runtime`, tells beside itself. Undefined: nothing. */
  circumstances(runtime: LockRuntime): Circumstances | undefined {
    const { traceparent } = this;
    if (!this.#around && !this.resolved.beside?.length && traceparent === undefined) return undefined;
    const inside: Enclosing[] = [];
    const told = (cut: boolean): Circumstances => {
      const detects = inside.length > 0 ? this.detects : undefined; // who is inside of nothing is waited for by nobody
      return { inside, cut, detects, traceparent };
    };
    for (const hold of this.#enclosing(runtime)) {
      const { enclosing } = hold;
      if (inside.some(({ claim }) => claim === enclosing.claim)) continue; // entered again
      if (inside.length === MOST_ENCLOSING) return told(true);
      inside.push(enclosing);
    }
    return told(false);
  }

  *#enclosing(runtime: LockRuntime): Iterable<Hold> {
    const { beside = [] } = this.resolved;
    for (let i = beside.length - 1; i >= 0; i--) yield beside[i]!.hold;
    if (this.#around) yield* this.#around.holds(runtime);
  }

  /** Whether it has to wait from now on. Until it is settled, the holds around it keep their claims for themselves. */
  beginsToWait(runtime: LockRuntime): boolean {
    if (this.#state !== 'asked') return false;
    this.#state = 'waiting';
    this.#named = [...this.#enclosing(runtime)];
    for (const hold of this.#named) hold.waitsInside++;
    return true;
  }

  /** Whether it may take over a place in the engine's line: what the place tells of whoever it was made for has to be true of this one. */
  inherits({ inside, detects }: NumberedClaim, runtime: LockRuntime): boolean {
    const own = this.circumstances(runtime);
    if ((own?.detects === undefined) !== (detects === undefined)) return false;
    return (
      (own?.inside.length ?? 0) === inside.length && inside.every(({ claim }, i) => claim === own!.inside[i]!.claim)
    );
  }

  /** Whether the other may take over what was meant for this one: the engine would not see a difference. */
  equals(other: AcquireRequest): boolean {
    return (
      this.seats.take === other.seats.take &&
      this.seats.of === other.seats.of &&
      this.seats.readWrite === other.seats.readWrite &&
      leaseOf(this.resolved) === leaseOf(other.resolved) &&
      this.resolved.minHold > 0 === other.resolved.minHold > 0 &&
      this.resolved.delay === other.resolved.delay &&
      this.resolved.wait > 0 === other.resolved.wait > 0
    );
  }
}

function aborted({ key, resolved }: AcquireRequest): LockError {
  const cause = resolved.signal?.reason;
  return new LockError('LOCK_ABORTED', `the wait for ${quoted(key)} was aborted by its signal`, { key, cause });
}

/**
 * A wait that ends while the engine does not answer says so: the reader's next step is another. But not one that others in
 * this process took up, for the most part: the engine has only just been asked.
 */
function timedOut({ key, queued, began, resolved: { wait } }: AcquireRequest, backend: string): LockError {
  const cause = queued?.outage.by(began + wait / 2);
  const waited = `${quoted(key)} could not be had on ${backend} within ${wait} ms`;
  const [code, why] =
    cause === undefined
      ? ([
          'LOCK_TIMEOUT',
          'others hold it or were first. Wait longer or try later; inspect() shows who, where the engine can list',
        ] as const)
      : (['LOCK_UNAVAILABLE', `${reasonOf(cause)}. What it may have done is being undone; try again`] as const);
  return new LockError(code, `${waited}: ${why}`, { key, backend, cause });
}

/** What the holder believes in. With `minHold` a crash must not free the key early either. */
export const leaseOf = (resolved: ResolvedOptions): number => Math.max(resolved.ttl, resolved.minHold);

/** The lease asked of the engine: after a lapse nobody is let in before `delay` is over. */
export const askedOf = (resolved: ResolvedOptions): number => leaseOf(resolved) + resolved.delay;
