import type { Granted } from '../claims/deadline.ts';
import type { NumberedClaim } from '../claims/numbered-claim.ts';
import { isExclusive } from '../contract/admission.ts';
import { LockError } from '../contract/errors.ts';
import type { LockEvent } from '../contract/events.ts';
import type { ResolvedOptions } from '../contract/options.ts';
import type { Enclosing } from '../contract/origin.ts';
import type { Engine } from '../engine/engine.ts';
import { quoted } from '../engine/engine.ts';
import type { AcquireRequest } from '../line/acquire-request.ts';
import type { KeyHolds } from '../line/key-holds.ts';
import { HoldLife } from './hold-life.ts';
import { HoldTiming } from './hold-timing.ts';

/** How often and since when a hold has passed from hand to hand. */
interface Tenure {
  readonly since: number;
  readonly passes: number;
}

/** What a hold is to its process: who is inside, how it is told of its loss, and how it ends. */
export class Hold {
  readonly claim: NumberedClaim;
  /** What it was granted to. */
  request: AcquireRequest | undefined;
  readonly resolved: ResolvedOptions;
  readonly token: bigint;
  /** How many tokens in a row the engine gave, the first holder's included. */
  readonly span: number;
  readonly tenure: Tenure;
  readonly life = new HoldLife();
  readonly timing: HoldTiming;
  /** Among those that are renewed. */
  slot = -1;
  /** Of the renewal that is under way, if one is. Never rejects. */
  renewing: Promise<unknown> | undefined;
  /** Claims that wait and say that they do so inside of this one's claim. */
  waitsInside = 0;
  /** Callers inside: the one it was granted to, and those who re-entered. */
  users = 1;
  readonly #engine: Engine;
  readonly #keeper: KeyHolds;
  readonly #lost: AbortSignal | undefined;

  /** @param tenure of the hands it comes from */
  constructor(of: KeyHolds, claim: NumberedClaim, granted: Granted, resolved: ResolvedOptions, tenure?: Tenure) {
    const { backend, clock } = of.engine;
    const now = clock.now();
    this.#keeper = of;
    this.#engine = of.engine;
    this.claim = claim;
    this.resolved = resolved;
    this.token = granted.ticket;
    this.span = granted.span ?? claim.span;
    this.tenure = tenure ?? { since: now, passes: 0 };
    this.timing = new HoldTiming(granted, resolved, backend.traits.lapses, claim.placeTtl !== undefined, now);
    this.#lost = granted.lost instanceof AbortSignal ? granted.lost : undefined;
  }

  /** From now on the engine's `lost` ends it: at once where that came while nobody listened. */
  listen(): void {
    if (this.life.over) return;
    if (this.#lost?.aborted) this.handleEvent();
    else this.#lost?.addEventListener('abort', this, { once: true });
  }

  /** Of the engine's `lost`. */
  handleEvent(): void {
    this.end('the engine ended it');
  }

  /** What is asked of the engine for it from now on: the claim of one that waited lasts longer. */
  get asked(): NumberedClaim {
    return { ...this.claim, ttl: this.timing.ttl };
  }

  /** As a claim inside tells of it, also one of other `Locks`: on another server a look finds no claim of this number under the key. */
  get enclosing(): Enclosing {
    return { claim: this.claim.number, key: this.claim.key };
  }

  /** By the clock, this very moment. */
  get held(): boolean {
    return !this.life.over && this.#engine.clock.now() < this.timing.deadline;
  }

  /** No renewal is on its way, or may still be: arriving later, it would set the lease of whoever has this hold by then. */
  get settled(): boolean {
    return !this.renewing && !this.#engine.extensions.has(this.claim.id) && this.timing.certain;
  }

  get exclusive(): boolean {
    return isExclusive(this.claim);
  }

  renewed(sent: number, validFor: number): void {
    const now = this.#engine.clock.now();
    const margin = this.timing.deadline - now;
    this.timing.renewed(sent, validFor, now);
    this.#tell('renewed', { margin });
  }

  /** Nobody knows whether the renewal to `ttl` took effect: the old deadline stands, and it is tried again soon. */
  renewalFailed(ttl: number, error: unknown): void {
    const now = this.#engine.clock.now();
    this.timing.renewalFailed(ttl, error, now);
    this.#tell('renewalFailed', { margin: this.timing.deadline - now, error });
  }

  /** Tells the holder, once and for good. It may still hold until the deadline: time to stop. */
  lose(reason: string, cause?: unknown): void {
    if (this.life.become('lost')) this.#lossFor(reason, cause)();
  }

  /** Past its deadline, if it is. */
  expire(): void {
    if (!this.held) this.end('its deadline passed without a renewal');
  }

  /** The end that nobody asked for. */
  end(reason: string): void {
    if (!this.life.become('ended')) return;
    const tell = this.life.loss ? undefined : this.#lossFor(reason);
    this.#lost?.removeEventListener('abort', this);
    this.#keeper.ended(this);
    tell?.();
  }

  #lossFor(reason: string, cause?: unknown): () => void {
    const { key } = this.claim;
    const backend = this.#engine.backend.name;
    const message = `the hold of ${quoted(key)} on ${backend} is lost: ${reason}. Stop writing`;
    const error = new LockError('LOCK_LOST', message, { key, backend, cause });
    const duration = this.#engine.clock.now() - this.timing.since;
    const tell = this.life.lostBy(error);
    return () => {
      this.#tell('lost', { duration, error });
      tell();
    };
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

  /** It is given back: over before that is told, since a listener may release again, or close. */
  released(): void {
    this.life.become('released');
    this.#lost?.removeEventListener('abort', this);
    this.#tell('released', { duration: this.#engine.clock.now() - this.timing.since });
  }

  #tell(name: 'renewed' | 'renewalFailed' | 'lost' | 'released', more: Partial<LockEvent>): void {
    this.request?.events.tell(name, this.exclusive ? this.token : undefined, more);
  }

  /** The same hold on the engine in the next hands, with the next token. */
  passTo(resolved: ResolvedOptions): Hold {
    const granted = { ticket: this.token + 1n, span: this.span, ...this.timing.confirmation, lost: this.#lost };
    const tenure = { since: this.tenure.since, passes: this.tenure.passes + 1 };
    return new Hold(this.#keeper, this.claim, granted, resolved, tenure);
  }
}
