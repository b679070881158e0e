import type { QueueMember } from '../contract/admission.ts';
import type { NewValue, ValueState } from '../contract/backend.ts';
import { LockError, quoted } from '../contract/errors.ts';
import { channels, type LockEvent } from '../contract/events.ts';
import type { EnclosingHold, Terms } from '../contract/terms.ts';
import type { StoreOutcome } from '../contract/values.ts';
import type { Engine } from '../engine/engine.ts';
import type { LocalClaim } from './claim-step.ts';
import { HoldListeners } from './hold-listeners.ts';
import { HoldTiming, type LocalGrant } from './hold-timing.ts';
import type { RequestEvents } from './request-events.ts';

/** A hold that has lasted for this many ms is watched for its eviction. Most holds are shorter, and cost nothing more. */
export const WATCHED_AFTER_MS = 500;

/** Why a hold was lost, if another process has stored the reason. */
export interface LossReason {
  readonly message: string;
  readonly reason: string;
}

/** Since when a hold has been in this process, and how often it has passed from hand to hand. */
interface Tenure {
  readonly since: number;
  readonly passes: number;
  /** Whether its claim had to wait in the engine's queue. Then other processes want the key, too. */
  readonly contended: boolean;
}

/** The request that a hold was granted to. */
export interface HoldOwner extends QueueMember {
  readonly exclusive: boolean;
  readonly terms: Terms;
  readonly events: RequestEvents;
}

/** The holds of a key, as each of these holds sees them. */
export interface HoldKeeper {
  readonly engine: Engine;
  /** Takes a hold that was released at `now`, and gives it to the next caller or back to the engine. @returns whether this call freed it */
  passOn(hold: Hold, now: number): boolean | Promise<boolean>;
  /** Gives the hold up, and stores a value under its key in the same step. Never rejects. */
  releaseWith(hold: Hold, value: NewValue, state: ValueState): Promise<StoreOutcome>;
  /** Sets the timer of a hold again, if it will not fire any more. */
  attend(hold: Hold): void;
  /** Receives a hold that ended by itself. */
  onEnd(hold: Hold): void;
}

/** A hold of this process: its callers, the notification of its loss, and its end. */
export class Hold implements EnclosingHold {
  readonly claim: LocalClaim;
  readonly owner: HoldOwner;
  readonly terms: Terms;
  readonly token: bigint;
  readonly exclusive: boolean;
  /** The number of tokens in a row that the engine gave, including the token of the first holder. */
  readonly tokenCount: number;
  readonly tenure: Tenure;
  readonly timing: HoldTiming;
  /** Whether the hold was given back, has passed on, or has ended by itself. */
  over = false;
  /** The error that says why the hold was lost. The holder was notified, and may hold until the deadline. */
  loss: LockError | undefined;
  /** Undefined until they are needed, since most holds need none. */
  #listeners: HoldListeners | undefined;
  /** The slot of the hold in the agenda of the watchdog. */
  slot = -1;
  /** The time from which the engine is asked to notify of an eviction: a shorter hold is over before anybody could evict it. */
  watchAt: number;
  watch: AsyncDisposable | undefined;
  /** When the engine last notified that the hold may be gone. Only the confirmation of a later request shows that the hold is there. */
  wokenAt = Number.NEGATIVE_INFINITY;
  readonly keeper: HoldKeeper;
  /** It aborts when the engine knows that the hold is gone. */
  readonly lost: AbortSignal | undefined;

  /** @param grant the grant; with the tenure so far if another caller hands the hold over */
  constructor(keeper: HoldKeeper, owner: HoldOwner, claim: LocalClaim, grant: LocalGrant & { tenure?: Tenure }) {
    const { terms } = owner;
    this.keeper = keeper;
    this.owner = owner;
    this.claim = claim;
    this.exclusive = owner.exclusive;
    this.terms = terms;
    this.token = grant.token;
    this.tokenCount = grant.tokenCount ?? claim.tokenCount;
    this.tenure = grant.tenure ?? { since: grant.since, passes: 0, contended: grant.contended === true };
    this.timing = new HoldTiming(grant, terms, keeper.engine.backend.traits.expires);
    this.watchAt = keeper.engine.backend.watchHold ? grant.since + WATCHED_AFTER_MS : Number.POSITIVE_INFINITY;
    // Where the engine wakes waiters, the claim of a patient waiter lasts much longer than the lease. A crash before the first renewal would
    // keep the key for all that time, so the hold is renewed at once. Elsewhere the claim lasts as long as the lease.
    if (claim.placeTtl !== undefined && claim.ttl > this.timing.ttl) this.timing.renewAtOnce(grant.since);
    this.lost = grant.lost instanceof AbortSignal ? grant.lost : undefined;
  }

  /** Whether the hold is still held, by the clock. */
  get held(): boolean {
    return !this.over && this.timing.lasts(this.keeper.engine.clock.now());
  }

  /** Whether the hold is surely there, and no renewal on its way. A renewal that arrives after a hand-over would set the lease of the next caller. */
  get settled(): boolean {
    const { timing, keeper, claim, wokenAt } = this;
    if (timing.renewing || keeper.engine.extensions.has(claim.id)) return false;
    return timing.certain && timing.confirmation.sent > wokenAt;
  }

  /** Releases the hold, also if callers share it. Never rejects. @returns whether this call freed it */
  async release(): Promise<boolean> {
    const now = this.markReleased();
    return now !== undefined && this.keeper.passOn(this, now);
  }

  get listeners(): HoldListeners {
    this.#listeners ??= new HoldListeners(this);
    return this.#listeners;
  }

  /** Whether work that its callers did not await waits inside of this hold for another lock. */
  get isWaitedInside(): boolean {
    return this.#listeners?.isWaitedInside === true;
  }

  /** Notes the renewal that was sent now; undefined once it is answered. Until its answer no other renewal is due. */
  noteRenewing(renewing: Promise<unknown> | undefined): void {
    this.timing.noteRenewing(renewing);
    if (renewing) this.#listeners?.watchLeases();
  }

  /** Notifies the holder of the loss, once. It may hold until the deadline, so it has time to stop. */
  lose(reason: string, cause?: unknown): void {
    if (!this.over && !this.loss) this.#lossFor(reason, cause)();
  }

  /** Ends the hold, if its deadline has passed. */
  expire(): void {
    if (!this.held) this.end('its deadline passed without a renewal');
  }

  /** Ends the hold at once, though no caller asked for that. @param known resolves with the reason, if there is one; then the holder is notified */
  async end(reason: string, known?: Promise<LossReason | undefined>): Promise<void> {
    if (this.over) return;
    this.over = true;
    const notify = this.loss ? undefined : this.#lossFor(reason);
    this.#listeners?.unfollow();
    this.keeper.onEnd(this);
    const why = notify && known && (await known);
    if (why) this.#lossFor(why.message, undefined, why.reason)();
    else notify?.();
  }

  /** @returns a function that notifies of the loss. Call it when all else is done: a listener may run anything, such as a release or `close` */
  #lossFor(reason: string, cause?: unknown, forced?: string): () => void {
    const { engine } = this.keeper;
    const error = lossOf(this.claim.key, engine.backend.name, reason, cause);
    const duration = engine.clock.now() - this.timing.since;
    this.loss = error;
    return () => {
      this.publish('lost', { duration, error, ...(forced !== undefined && { reason: forced }) });
      this.#listeners?.notify(error);
    };
  }

  /**
   * Ends the hold as released. It is over before listeners are notified, since a listener may release again, or close.
   * @returns the time; undefined if the hold was over before
   */
  markReleased(): number | undefined {
    const { clock } = this.keeper.engine;
    clock.lookAgain?.();
    const now = clock.now();
    if (!this.timing.lasts(now)) this.expire();
    if (this.over) return undefined;
    this.over = true;
    this.#listeners?.unfollow();
    if (channels.released.hasSubscribers) this.publish('released', { duration: now - this.timing.since });
    return now;
  }

  publish(name: 'renewed' | 'renewalFailed' | 'lost' | 'released' | 'releaseFailed', more: Partial<LockEvent>): void {
    this.owner.events.publish(name, this.exclusive ? this.token : undefined, more);
  }
}

/** The claim of a hold as it is sent to the engine from now on. While the claim waited, its ttl may have been longer. */
export const currentClaim = ({ claim, timing }: Hold): LocalClaim => ({ ...claim, ttl: timing.ttl });

/** Gives the same hold on the engine to the next holder, with the next token. */
export function passedTo(next: HoldOwner, now: number, hold: Hold): Hold {
  const { keeper, claim, token, tokenCount, lost, timing } = hold;
  const tenure = { ...hold.tenure, passes: hold.tenure.passes + 1 };
  const grant = { token: token + 1n, tokenCount, since: now, ...timing.confirmation, lost, tenure };
  return new Hold(keeper, next, claim, grant);
}

export function lossOf(key: string, backend: string, reason: string, cause?: unknown): LockError {
  const message = `the hold of ${quoted(key)} on ${backend} is lost: ${reason}. Stop writing`;
  return new LockError('LOCK_LOST', message, { key, backend, cause });
}
