import { RecentKeys } from '../../core/index.ts';
import { EngineTime, type QueueTime, type StoredClaim } from '../shared/stored-queue.ts';

type Beating = Pick<StoredClaim, 'id' | 'beat' | 'life' | 'watched'> & Partial<Pick<StoredClaim, 'token'>>;

export interface Sight extends QueueTime {
  remaining(claim: Beating & Pick<StoredClaim, 'expires'>): number;
  /** For how long its last sign of life has not moved at least, ms; undefined where the store's clock tells that. */
  watched(claim: Beating): number | undefined;
}

/** A sign of life, and a time of this process at which it was there already. */
interface Seen {
  readonly sign: string;
  readonly since: number;
}

/** A claim that expired and came again has another token, and counts from the start. */
const signOf = ({ token, beat }: Beating): string => `${token} ${beat}`;

/** Keys of which it is remembered which claims were in their queues: many more than queues are, since a process that has seen a dead hold twice frees it. */
const MAX_KEYS = 100_000;

/**
 * For how long the signs of life of others have not moved. No two clocks are compared, so clocks may differ as they like; only their rates
 * count. A document tells of each sign of life for how long others have watched it before they wrote. Who reads that counts on from there, by
 * its own clock: it adds what passes after the watch of the others, never what it watched beside them.
 */
export class Sightings {
  readonly #seen: RecentKeys<ReadonlyMap<string, Seen>>;

  constructor(kept = MAX_KEYS) {
    this.#seen = new RecentKeys(kept);
  }

  see(key: string, claims: Iterable<Beating>, now: number): void {
    const before = this.#seen.get(key);
    const seen = new Map(Array.from(claims, (claim) => [claim.id, seenOf(claim, before?.get(claim.id), now)]));
    if (seen.size === 0) this.#seen.delete(key);
    else this.#seen.set(key, seen);
  }

  by(key: string, now: number): Sight {
    const watched = (claim: Beating): number => {
      const seen = this.#seen.get(key)?.get(claim.id);
      return seen?.sign === signOf(claim) ? Math.floor(now - seen.since) : 0;
    };
    return {
      now,
      watched,
      remaining: (claim) => claim.life! - watched(claim),
      revive(claim, life) {
        claim.beat = (claim.beat ?? 0) + 1;
        claim.life = life;
        claim.watched = undefined;
      },
    };
  }
}

/** What this process saw and what others wrote that they saw are both true. So the longer time counts, not their sum. */
function seenOf(claim: Beating, before: Seen | undefined, now: number): Seen {
  const [sign, told] = [signOf(claim), now - (claim.watched ?? 0)];
  return { sign, since: before?.sign === sign ? Math.min(before.since, told) : told };
}

/** The time of a store that has a clock. */
export class StoreTime extends EngineTime implements Sight {
  /** @param time what it showed at a read that has just come @param spent ms since that was asked for */
  constructor(time: number, spent: number) {
    super(time, time + spent);
  }

  override revive(claim: StoredClaim, life: number): void {
    super.revive(claim, life);
    claim.beat = (claim.beat ?? 0) + 1;
  }

  watched(): undefined {}
}
