import { admitted, type Demand, type QueueEntry } from '../../core/index.ts';

/** A claim in the queue of its key. */
export interface StoredClaim extends Demand {
  readonly id: string;
  readonly label: string;
  token: bigint;
  /** Whether the claim is admitted. Stored, because it decides how long the claim lives: a hold lives longer. */
  held: boolean;
  /** How long the claim lives as a hold without a renewal, ms. */
  ttl: number;
  /** When the claim joined, by the engine's clock. */
  joined?: number;
  /** When the claim expires, by the engine's clock. */
  expires?: number;
  /** If the engine has no clock: a number that grows with each sign of life. */
  beat?: number;
  /** If the engine has no clock: how long the last sign of life is good, ms. */
  life?: number;
  /** If the engine has no clock: for how long, at least, the writer of the queue had seen no new sign of life when it wrote, ms. */
  watched?: number | undefined;
  /** The address of the claim's process, if the engine notifies processes. */
  process?: string | undefined;
  /** The hold outlives its process. */
  readonly lingers?: boolean | undefined;
}

/** The time of a step, and the effect of a sign of life. */
export interface QueueTime {
  /** The time of this step, ms. */
  readonly now: number;
  /** Gives the ms until the claim expires; 0 or less when it has. */
  remaining(claim: StoredClaim): number;
  /** Notes a sign of life that is good for `life` ms. The first one also sets the time at which the claim joined. */
  revive(claim: StoredClaim, life: number): void;
}

/** The time of an engine that has a clock. */
export class EngineTime implements QueueTime {
  readonly now: number;
  readonly #latest: number;

  /**
   * @param now the earliest time that the clock may show now: so an expiry is late rather than early
   * @param latest the latest time that the clock may show now
   */
  constructor(now: number, latest: number = now) {
    this.now = now;
    this.#latest = latest;
  }

  remaining({ expires = this.now }: Pick<StoredClaim, 'expires'>): number {
    return expires - this.now;
  }

  revive(claim: StoredClaim, life: number): void {
    claim.joined ??= this.#latest;
    claim.expires = this.#latest + life;
  }
}

/** The tokens of a queue: each is higher than all that came before it. */
export interface Tokens {
  /** Reserves `count` tokens in a row. @returns the first one, which is no lower than `min` */
  reserve(count: number, min: bigint): bigint;
  /** Makes all later tokens higher than this one. */
  pass(token: bigint): void;
}

/** Counts tokens on from `last`, the highest one that was given or reserved. */
export class TokenCounter implements Tokens {
  last: bigint;

  constructor(last: bigint) {
    this.last = last;
  }

  reserve(count: number, min: bigint): bigint {
    const first = min > this.last ? min : this.last + 1n;
    this.last = first + BigInt(count) - 1n;
    return first;
  }

  pass(token: bigint): void {
    if (token > this.last) this.last = token;
  }
}

export type JsonClaim = Omit<StoredClaim, 'token'> & { readonly token: string };

export const jsonOf = (claims: Iterable<StoredClaim>): JsonClaim[] =>
  Array.from(claims, (claim) => ({ ...claim, token: `${claim.token}` }));

export const claimsOf = (claims: readonly JsonClaim[]): StoredClaim[] =>
  claims.map((claim) => ({ ...claim, token: BigInt(claim.token) }));

/** Marks the claims that hold, for a queue that does not store `held`: there `held` follows from the order and the units. */
export function byRule(claims: StoredClaim[]): StoredClaim[] {
  for (const claim of claims.slice(0, admitted(claims))) claim.held = true;
  return claims;
}

/** Whether one more claim, at the end of a queue, would be admitted. */
export const admits = (claims: readonly Demand[], newcomer: Demand): boolean =>
  admitted([...claims, newcomer]) > claims.length;

/** What a listing shows of a claim, except what follows from its queue. */
type ListedClaim = Pick<QueueEntry, 'token' | 'units' | 'capacity' | 'label' | 'remaining'> & {
  readonly since?: number | undefined;
};

/** @param claims in the order of the queue */
export function entriesOf(key: string, claims: readonly ListedClaim[]): QueueEntry[] {
  const holders = admitted(claims);
  return claims.map(({ token, units, capacity, label, remaining, since }, position) => {
    const entry = { key, held: position < holders, position, token, units, capacity, label, remaining };
    return since === undefined ? entry : { ...entry, since: Math.max(0, since) };
  });
}
