import { RecentKeys } from '../../core/index.ts';
import { EngineTime, type QueueTime, type StoredClaim } from '../shared/stored-queue.ts';

type Beating = Pick<StoredClaim, 'id' | 'beat' | 'life' | 'watched'> & Partial<Pick<StoredClaim, 'token'>>;

export interface Sight extends QueueTime {
  remaining(claim: Beating & Pick<StoredClaim, 'expires'>): number;
  /** For how long, at least, the claim's last sign of life has not changed, ms; undefined if the store's clock says when the claim expires. */
  watched(claim: Beating & Pick<StoredClaim, 'expires'>): number | undefined;
}

/** A sign of life, and the earliest time at which it is known to have been there, by the clock of this process. */
interface Seen {
  readonly sign: string;
  readonly since: number;
}

/** The sign of life includes the token. A claim that expired and joined again has another token, so its time without a new sign begins again. */
const signOf = ({ token, beat }: Beating): string => `${token} ${beat}`;

/** The number of keys whose signs of life are remembered. It is large: only a process that remembers a dead hold can see that the hold is dead. */
const MAX_KEYS = 100_000;

/**
 * Knows for how long signs of life of other processes have not changed. No two clocks are compared: clocks may differ, only their rates count.
 * A document says for each sign of life how long the writer of the document had seen it unchanged. A reader continues this count by its own
 * clock. Time in which both have seen the same sign of life never counts twice.
 */
export class Sightings {
  readonly #seen: RecentKeys<ReadonlyMap<string, Seen>>;

  constructor(kept = MAX_KEYS) {
    this.#seen = new RecentKeys(kept);
  }

  /** @param now by `resync`: if the clock were corrected only later, a sleep of the machine would count as time without a sign of life */
  see(key: string, claims: Iterable<Beating>, now: number): void {
    const before = this.#seen.get(key);
    const seen = new Map(Array.from(claims, (claim) => [claim.id, seenOf(claim, before?.get(claim.id), now)]));
    if (seen.size === 0) this.#seen.delete(key);
    else this.#seen.set(key, seen);
  }

  /** @param time the store's time in an answer, if the store has a clock @param sent when the request for that answer was sent */
  by(key: string, now: number, time?: number, sent = now): Sight {
    const watched = (claim: Beating): number => {
      const seen = this.#seen.get(key)?.get(claim.id);
      return seen?.sign === signOf(claim) ? Math.floor(now - seen.since) : 0;
    };
    const observed: Sight = {
      now,
      watched,
      remaining: (claim) => claim.life! - watched(claim),
      revive(claim, life) {
        claim.beat = (claim.beat ?? 0) + 1;
        claim.life = life;
        claim.watched = undefined;
      },
    };
    return time === undefined ? observed : new StoreTime(time, now - sent, observed);
  }
}

/** What this process saw, and what the writer says it saw, are both true. So the longer of both times counts, not their sum. */
function seenOf(claim: Beating, before: Seen | undefined, now: number): Seen {
  const [sign, stored] = [signOf(claim), now - (claim.watched ?? 0)];
  return { sign, since: before?.sign === sign ? Math.min(before.since, stored) : stored };
}

/** The time of a store that has a clock. A claim that was written without that time is watched, until its next sign of life. */
class StoreTime extends EngineTime implements Sight {
  readonly #observed: Sight;

  /** @param time the store's time in an answer that has just come @param spent the ms since the request was sent */
  constructor(time: number, spent: number, observed: Sight) {
    super(time, time + spent);
    this.#observed = observed;
  }

  override remaining(claim: Beating & Pick<StoredClaim, 'expires'>): number {
    return claim.expires === undefined ? this.#observed.remaining(claim) : super.remaining(claim);
  }

  override revive(claim: StoredClaim, life: number): void {
    super.revive(claim, life);
    claim.beat = (claim.beat ?? 0) + 1;
  }

  watched(claim: Beating & Pick<StoredClaim, 'expires'>): number | undefined {
    return claim.expires === undefined ? this.#observed.watched(claim) : undefined;
  }
}
