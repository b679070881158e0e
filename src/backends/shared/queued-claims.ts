import { type Demand, type Refusal, Tally } from '../../core/index.ts';
import type { QueueTime, StoredClaim } from './stored-queue.ts';

/** The claims of a queue in their order. An engine that stores each claim by itself overrides the methods that change a claim. */
export class QueuedClaims {
  /** Claims that were admitted because others left or expired. */
  readonly admitted: StoredClaim[] = [];
  /** Whether a step has changed the queue, other than by an expiry alone. */
  changed = false;
  time!: QueueTime;
  /** No claim expires before this time. */
  #firstExpiry = Number.POSITIVE_INFINITY;
  /** The claims that hold come first. A tally counts their units, so a step costs the same in a long queue as in a short one. */
  readonly #held = new Map<string, StoredClaim>();
  readonly #waiting = new Map<string, StoredClaim>();
  readonly #tally = new Tally();

  constructor(claims: Iterable<StoredClaim>) {
    for (const claim of claims) {
      this.#place(claim);
      this.#firstExpiry = Number.NEGATIVE_INFINITY; // not known yet
    }
  }

  get first(): StoredClaim | undefined {
    for (const claim of this.#held.values()) return claim;
    return undefined; // if there are claims, the first one holds
  }

  *[Symbol.iterator](): Generator<StoredClaim, void, undefined> {
    yield* this.#held.values();
    yield* this.#waiting.values();
  }

  find(id: string): StoredClaim | undefined {
    return this.#held.get(id) ?? this.#waiting.get(id);
  }

  at(time: QueueTime): void {
    this.time = time;
    if (time.now < this.#firstExpiry) return;
    this.#firstExpiry = Number.POSITIVE_INFINITY;
    // All expired claims are removed before others are admitted: the next claim may have expired, too.
    for (const claim of this) {
      const remaining = time.remaining(claim);
      if (remaining <= 0) this.remove(claim);
      else this.#expects(remaining);
    }
    this.#admit();
  }

  admits(claim: Demand): boolean {
    return this.#waiting.size === 0 && this.#tally.fits(claim);
  }

  /** @param life ms */
  join(claim: StoredClaim, life: number): void {
    this.#place(claim);
    this.revive(claim, life);
  }

  revive(claim: StoredClaim, life: number): void {
    this.time.revive(claim, life);
    this.#expects(life);
    this.changed = true;
  }

  /** Gives a hold a higher token. */
  raise(claim: StoredClaim, token: bigint): void {
    claim.token = token;
    this.changed = true;
  }

  leave(claim: StoredClaim): void {
    this.remove(claim);
    this.changed = true;
    this.#admit();
  }

  /** @param mine the claim that is refused, if it is in the queue */
  refusal(mine?: StoredClaim): Refusal {
    let [ahead, retryAfter] = [0, Number.POSITIVE_INFINITY];
    // Two loops: in a long queue, the iterator over all claims would take most of the time of a step.
    for (const part of [this.#held, this.#waiting]) {
      for (const claim of part.values()) {
        if (claim === mine) break;
        ahead++;
        retryAfter = Math.min(retryAfter, this.time.remaining(claim));
      }
    }
    return { granted: false, ahead, retryAfter: Math.max(0, retryAfter) };
  }

  /** Admits the claims that now fit. Their whole lease begins now. */
  #admit(): void {
    for (const claim of this.#waiting.values()) {
      if (!this.#tally.fits(claim)) return;
      this.#waiting.delete(claim.id);
      claim.held = true;
      this.join(claim, claim.ttl);
      this.admitted.push(claim);
    }
  }

  #place(claim: StoredClaim): void {
    if (claim.held) this.#tally.add(claim);
    (claim.held ? this.#held : this.#waiting).set(claim.id, claim);
  }

  protected remove(claim: StoredClaim): void {
    if (this.#held.delete(claim.id)) this.#tally.remove(claim);
    else this.#waiting.delete(claim.id);
  }

  #expects(remaining: number): void {
    this.#firstExpiry = Math.min(this.#firstExpiry, this.time.now + remaining);
  }
}
