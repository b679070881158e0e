import { type AcquireRequest, leaseOf } from './acquire-request.ts';
import { isExclusive } from './admission.ts';
import { deadlineOf, type Granted } from './deadline.ts';
import { believed } from './delay.ts';
import type { Engine } from './engine.ts';
import { quoted } from './engine.ts';
import { LockError } from './errors.ts';
import { tellOf } from './hold-events.ts';
import type { NumberedClaim } from './numbered-claim.ts';
import type { ResolvedOptions } from './options.ts';
import type { Enclosing } from './origin.ts';

type LossListener = (loss: LockError) => void;

/** Whoever keeps the holds of a key in this process. */
export interface HoldKeeper {
  /** Gives the hold up; whether that freed it. */
  release(hold: Hold): Promise<boolean>;
  /** The hold ended by itself: gone on the engine, or past its deadline. Told once. */
  ended(hold: Hold): void;
}

/** What a hold is to its process: how it is renewed, told of its loss, and how long it is good for. */
export class Hold {
  claim: NumberedClaim;
  /** What it was granted to. */
  request: AcquireRequest | undefined;
  readonly resolved: ResolvedOptions;
  readonly token: bigint;
  /** How many tokens in a row the engine gave, the first holder's included. */
  readonly span: number;
  /** When this holder got it. */
  readonly since: number;
  /** Until when an attempt of it may arrive that was not answered; after a release it would bring the hold back. */
  readonly lateUntil: number;
  /** How often and since when it has passed from hand to hand. */
  readonly tenure: { readonly since: number; readonly passes: number };
  deadline: number;
  /** When the request was sent that the deadline counts from. */
  sent: number;
  /** For how long the engine's last answer was good, ms: the ttl, or less where a session carries the hold. */
  confirmedFor: number;
  /** When the next renewal is due; Infinity when none is. */
  renewAt: number;
  /** Of the renewal that is under way, if one is. Never rejects. */
  renewing: Promise<unknown> | undefined;
  /** An extension was sent and is not answered. */
  extending = false;
  /** Why the last renewal failed, if it did and that is known. */
  failure: unknown;
  /** How long the key stays taken from `since`, ms. */
  minHold: number;
  /** Claims that wait and say that they do so inside of this one's claim. */
  waitsInside = 0;
  /** Callers inside: the one it was granted to, and those who re-entered. */
  users = 1;
  readonly #engine: Engine;
  readonly #keeper: HoldKeeper;
  readonly #lost: AbortSignal | undefined;
  /** The engine's last confirmation that this hold counts on, which may be good for longer than the lease. */
  #confirmation: Pick<Granted, 'sent' | 'validFor'>;
  /** Without `renew`, the end of the lease. A session confirms for less; it is asked again until then. */
  #leaseEnd: number;
  /** The shortest lease that a request without an answer may still set, whenever it arrives. ms. */
  #doubt = Number.POSITIVE_INFINITY;
  /** Who is to be told of the loss. Most holds need none. */
  #listeners: Set<LossListener> | undefined;
  #loss: LockError | undefined;
  #over = false;

  constructor(
    engine: Engine,
    claim: NumberedClaim,
    granted: Granted,
    resolved: ResolvedOptions,
    keeper: HoldKeeper,
    tenure?: Hold['tenure'],
  ) {
    this.#engine = engine;
    this.claim = claim;
    this.resolved = resolved;
    this.minHold = resolved.minHold;
    this.token = granted.ticket;
    this.span = granted.span ?? claim.span;
    this.since = engine.clock.now();
    this.tenure = tenure ?? { since: this.since, passes: 0 };
    this.lateUntil = granted.lateUntil ?? 0;
    if (this.lateUntil > 0) this.#doubt = claim.ttl; // however late: over several nodes each has its own time to refuse it
    const full = deadlineOf(this.since, believed(claim.ttl, resolved));
    this.#leaseEnd = resolved.renew ? Number.POSITIVE_INFINITY : full;
    this.#confirmation = { sent: granted.sent, validFor: this.#good(granted.validFor) };
    this.deadline = deadlineOf(granted.sent, believed(this.#confirmation.validFor, resolved));
    // It lasts what was asked for, from now; the next renewal makes it last no longer, however long the claim of a waiter does.
    const longer = this.deadline > full && this.deadline < Number.POSITIVE_INFINITY;
    this.sent = longer ? this.since : granted.sent;
    this.confirmedFor = believed(Math.min(claim.ttl, this.#confirmation.validFor), resolved);
    this.deadline = Math.min(this.deadline, longer ? full : this.#leaseEnd);
    this.renewAt = this.#nextRenewal(this.since);
    // The claim of a patient waiter lasts much longer than the lease: until it is renewed, a crash would keep the key for all of that.
    if (claim.placeTtl !== undefined && this.renewAt < Number.POSITIVE_INFINITY) this.renewAt = this.since;
    this.#keeper = keeper;
    this.#lost = granted.lost instanceof AbortSignal ? granted.lost : undefined;
  }

  /** From now on the engine's `lost` ends it: at once where that came while nobody listened. */
  listen(): void {
    if (this.#over) return;
    if (this.#lost?.aborted) this.handleEvent();
    else this.#lost?.addEventListener('abort', this, { once: true });
  }

  /** Of the engine's `lost`. */
  handleEvent(): void {
    this.end('the engine ended it');
  }

  /** As a claim to `engine` tells of it that is asked for inside: keys of another engine stay there. */
  enclosing(engine: Engine): Enclosing {
    const { number: claim, key } = this.claim;
    return engine.backend === this.#engine.backend ? { claim, key } : { claim };
  }

  /** By the clock, this very moment. */
  get held(): boolean {
    return !this.#over && this.#engine.clock.now() < this.deadline;
  }

  get over(): boolean {
    return this.#over;
  }

  get loss(): LockError | undefined {
    return this.#loss;
  }

  /** No renewal is on its way, or may still be: arriving later, it would set the lease of whoever has this hold by then. */
  get settled(): boolean {
    return !this.renewing && !this.extending && this.#doubt === Number.POSITIVE_INFINITY;
  }

  get exclusive(): boolean {
    return isExclusive(this.claim);
  }

  /** Calls `listener` when the hold is lost, at once if it is; what is given ends that. */
  onLoss(listener: LossListener): () => void {
    if (this.#loss) {
      listener(this.#loss);
      return () => {};
    }
    this.#listeners ??= new Set();
    const listeners = this.#listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** ms for which the key has to stay taken, by `minHold`. */
  get rest(): number {
    return this.minHold > 0 ? this.since + this.minHold - this.#engine.clock.now() : 0;
  }

  /** When the loss signal is due. Where the engine confirms for less than the lease, the notice is as large a part of that as of the lease. */
  get noticeAt(): number {
    return this.deadline - this.resolved.notice * Math.min(1, this.confirmedFor / leaseOf(this.resolved));
  }

  get renews(): boolean {
    return this.#renewsAt(this.#engine.clock.now());
  }

  #renewsAt(now: number): boolean {
    if (this.#loss) return false;
    if (!this.resolved.renew) return !this.#engine.backend.traits.lapses && this.deadline < this.#leaseEnd;
    return now - this.since < this.resolved.maxHold;
  }

  /** For how long an answer is: with `maxHold` no longer than the lease, or a session would carry the hold for ever. */
  #good(validFor: number): number {
    return this.resolved.maxHold < Number.POSITIVE_INFINITY ? Math.min(validFor, this.claim.ttl) : validFor;
  }

  /** After a third; with a long notice earlier, so that there is time for a second try before it. */
  #nextRenewal(now: number): number {
    if (!this.#renewsAt(now)) return Number.POSITIVE_INFINITY;
    return this.sent + Math.min(this.confirmedFor / 3, (this.noticeAt - this.sent) / 2);
  }

  renewed(sent: number, validFor: number): void {
    const confirmed = Math.min(this.#good(validFor), this.#doubt);
    this.#confirmation = { sent, validFor: confirmed };
    const before = this.deadline;
    const good = believed(confirmed, this.resolved);
    this.deadline = Math.min(Math.max(this.deadline, deadlineOf(sent, good)), this.#leaseEnd);
    this.sent = sent;
    this.failure = undefined;
    this.confirmedFor = Math.min(believed(this.claim.ttl, this.resolved), good);
    this.renewAt = this.#nextRenewal(this.#engine.clock.now());
    tellOf(this, 'renewed', () => ({ margin: before - this.#engine.clock.now() }));
  }

  /**
   * A renewal to `ttl` is not known to have arrived, nor not to: over another connection it may overtake what is sent after it,
   * and set the shorter lease last. Until then no answer is good for longer.
   */
  doubt(ttl: number): void {
    this.#doubt = Math.min(this.#doubt, ttl);
  }

  /** The lease lasts for `ttl`, counted from `sent`; false when that is in doubt and nothing will renew it. */
  extended(ttl: number, sent: number, validFor: number): boolean {
    if (!this.resolved.renew) this.#leaseEnd = Math.max(this.#leaseEnd, deadlineOf(sent, ttl));
    this.renewed(sent, validFor);
    return this.resolved.renew || ttl + this.resolved.delay <= this.#doubt;
  }

  /** Nobody knows whether the renewal to `ttl` took effect: the old deadline stands, and it is tried again soon. */
  renewalFailed(ttl: number, error: unknown): void {
    this.failure = error;
    this.doubt(ttl);
    this.renewAt = this.#engine.clock.now() + this.confirmedFor / 12;
    tellOf(this, 'renewalFailed', () => ({ margin: this.deadline - this.#engine.clock.now(), error }));
  }

  /** Tells the holder, once and for good. It may still hold until the deadline: time to stop. */
  lose(reason: string, cause?: unknown): void {
    if (!this.#over) this.#markLost(reason, cause)();
  }

  /** @returns what tells of it. It may run anything, such as a release or `close`, so it comes when all else is done. */
  #markLost(reason: string, cause?: unknown): () => void {
    if (this.#loss) return () => {};
    this.renewAt = Number.POSITIVE_INFINITY;
    const { key } = this.claim;
    const backend = this.#engine.backend.name;
    const loss = new LockError(
      'LOCK_LOST',
      `the hold of ${quoted(key)} on ${backend} is lost: ${reason}. Stop writing`,
      { key, backend, cause },
    );
    this.#loss = loss;
    const duration = this.#engine.clock.now() - this.since;
    return () => {
      tellOf(this, 'lost', () => ({ duration, error: loss }));
      for (const tell of [...(this.#listeners ?? [])]) tell(loss);
    };
  }

  /** The end that nobody asked for. */
  end(reason: string): void {
    if (this.#over) return;
    const tell = this.#markLost(reason);
    this.close();
    this.#keeper.ended(this);
    tell();
  }

  /** One caller less inside; the last one gives the hold up. Whether that freed it. */
  leave(): Promise<boolean> {
    this.users--;
    return this.users === 0 ? this.#keeper.release(this) : Promise.resolve(false);
  }

  /** Gives the hold up, however many are inside. Whether that freed it. */
  abandon(reason: string): Promise<boolean> {
    this.lose(reason);
    return this.#keeper.release(this);
  }

  /** No more of it: released, passed on, or ended. */
  close(): void {
    this.#over = true;
    this.#lost?.removeEventListener('abort', this);
  }

  /** Whether it can be passed on: who does not renew has nothing but what is left of it, and gets all that was asked for. */
  lastsFor(next: ResolvedOptions): boolean {
    const now = this.#engine.clock.now();
    const lease = leaseOf(next);
    if (next.renew) return this.deadline - now >= lease / 2;
    return deadlineOf(this.#confirmation.sent, believed(this.#confirmation.validFor, next)) >= deadlineOf(now, lease);
  }

  /** The same hold on the engine in the next hands, with the next token. */
  passTo(resolved: ResolvedOptions): Hold {
    this.close();
    const granted = { ticket: this.token + 1n, span: this.span, ...this.#confirmation, lost: this.#lost };
    const tenure = { since: this.tenure.since, passes: this.tenure.passes + 1 };
    return new Hold(this.#engine, this.claim, granted, resolved, this.#keeper, tenure);
  }

  grantedTo(request: AcquireRequest): void {
    this.request = request;
    request.number = this.claim.number;
  }

  /** It is given back: over before that is told, since a listener may release again, or close. */
  released(): void {
    this.close();
    tellOf(this, 'released', () => ({ duration: this.#engine.clock.now() - this.since }));
  }
}
