import { RecentKeys } from '../../core/contract/recent-keys.ts';
import type { Place } from './document.ts';

type Beating = Pick<Place, 'id' | 'beat' | 'life' | 'at' | 'watched'> & Partial<Pick<Place, 'token'>>;

/** How long a claim will live without another sign of life. */
export interface Sight {
  /** ms; 0 or less when it has expired. */
  remaining(place: Beating): number;
  /** For how long its last sign of life has not moved at least, ms; undefined where the store's clock tells that. */
  watched(place: Beating): number | undefined;
  /** The store's time now, never behind it; undefined where it has no clock. */
  readonly at: number | undefined;
}

/** A sign of life, and a time of this process at which it was there already. */
interface Seen {
  readonly sign: string;
  readonly since: number;
}

/** A claim that expired and came again has another token, and counts from the start. */
const signOf = ({ token, beat }: Beating): string => `${token} ${beat}`;

/** Keys of which it is remembered who stood in their lines: many more than lines are, since a dead hold is freed by who saw it twice. */
const KEPT = 100_000;

/**
 * For how long the signs of life of others have not moved. No two clocks are compared, so clocks may differ as they like; only their rates
 * count. A document tells of each sign of life for how long others have watched it before they wrote. Who reads that counts on from there, by
 * its own clock: it adds what passes after the watch of the others, never what it watched beside them.
 */
export class Sightings {
  readonly #seen: RecentKeys<ReadonlyMap<string, Seen>>;

  constructor(kept = KEPT) {
    this.#seen = new RecentKeys(kept);
  }

  /** What a line showed, when it had come here at `now`. */
  see(key: string, places: readonly Beating[], now: number): void {
    const before = this.#seen.get(key);
    if (places.length === 0) this.#seen.delete(key);
    else this.#seen.set(key, new Map(places.map((place) => [place.id, seen(place, before?.get(place.id), now)])));
  }

  by(key: string, now: number): Sight {
    const watched = (place: Beating): number => {
      const seen = this.#seen.get(key)?.get(place.id);
      return seen?.sign === signOf(place) ? Math.floor(now - seen.since) : 0;
    };
    return { remaining: (place) => place.life - watched(place), watched, at: undefined };
  }
}

/** Both are true, what was seen here and what others wrote that they had seen: the longer one counts, and no sum of the two. */
function seen(place: Beating, before: Seen | undefined, now: number): Seen {
  const [sign, told] = [signOf(place), now - (place.watched ?? 0)];
  return { sign, since: before?.sign === sign ? Math.min(before.since, told) : told };
}

/**
 * By the store's clock.
 * @param time what it showed at a read that has just come
 * @param spent ms since that was asked for
 */
export const byStore = (time: number, spent: number): Sight => ({
  // Judged by the earlier end of what the time may be now, set by the later: so an expiry is late rather than early.
  remaining: ({ life, at = time }) => at + life - time,
  watched: () => undefined,
  at: time + spent,
});
