import { admitted, type Demand, type QueueEntry } from '../../core/index.ts';

/** A claim as it stands in the queue of its key. */
export interface StoredClaim extends Demand {
  readonly id: string;
  readonly label: string;
  token: bigint;
  /** Whether the rule has admitted it. That is stored, because a hold lives longer than a claim that waits. */
  held: boolean;
  /** The time for which it lives as a hold without a sign of life, ms. */
  ttl: number;
  /** When it joined, by the engine's clock. */
  joined?: number;
  /** When it expires, by the engine's clock. */
  expires?: number;
  /** Where the engine has no clock: a number that grows with every sign of life. */
  beat?: number;
  /** Then also: the time for which the last sign of life is good, ms. */
  life?: number;
  /** Then also: others have seen the last sign of life unmoved for so long, at least, before this was written, ms. */
  watched?: number | undefined;
  /** The address of its process, where the engine notifies processes. */
  process?: string | undefined;
  /** The hold outlives its process. */
  readonly lingers?: boolean | undefined;
}

/** How a step tells time, and what a sign of life is. */
export interface QueueTime {
  /** ms. */
  readonly now: number;
  /** Gives the ms until the claim expires; 0 or less when it has. */
  remaining(claim: StoredClaim): number;
  /** Notes a sign of life that is good for so many ms. The first one of a claim is also the time at which it joined. */
  revive(claim: StoredClaim, life: number): void;
}

/** The time of an engine that has a clock. */
export class EngineTime implements QueueTime {
  readonly now: number;
  readonly #latest: number;

  /**
   * @param now the earliest that the clock may show now: so an expiry is late rather than early
   * @param latest the latest that it may show now
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
  /** Reserves so many in a row. @returns the first, which is no lower than `min` */
  reserve(count: number, min: bigint): bigint;
  /** Makes all later ones higher than this one. */
  pass(token: bigint): void;
}

/** Tokens from the highest one that was given or reserved. */
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

/** The claims of a queue that does not store who holds: that follows from their order and units. */
export function byRule(claims: StoredClaim[]): StoredClaim[] {
  for (const claim of claims.slice(0, admitted(claims))) claim.held = true;
  return claims;
}

/** Whether one more claim, at the end of a queue, would be admitted. */
export const admits = (claims: readonly Demand[], newcomer: Demand): boolean =>
  admitted([...claims, newcomer]) > claims.length;

/** What a listing shows of a claim, beside what follows from its queue. */
type ListedClaim = Pick<QueueEntry, 'token' | 'units' | 'capacity' | 'label' | 'remaining'> & {
  readonly since?: number | undefined;
};

/** The listing of a queue, given in its order. */
export function entriesOf(key: string, claims: readonly ListedClaim[]): QueueEntry[] {
  const holders = admitted(claims);
  return claims.map(({ token, units, capacity, label, remaining, since }, position) => {
    const entry = { key, held: position < holders, position, token, units, capacity, label, remaining };
    return since === undefined ? entry : { ...entry, since: Math.max(0, since) };
  });
}
