import type { Place } from './document.ts';

type Beating = Pick<Place, 'id' | 'beat' | 'life' | 'at'>;

/** How long a claim will live without another sign of life. */
export interface Sight {
  /** ms; 0 or less when it has lapsed. */
  remaining(place: Beating): number;
  /** The store's time now, never behind it; undefined where it has no clock. */
  readonly at: number | undefined;
}

/**
 * For how long the signs of life of others have not moved, by the clock of this process. No two clocks are compared, so clocks may
 * differ as they like; only their rates count. It says that a claim has lapsed only when this process has watched it for a whole life.
 */
export class Sightings {
  #seen = new Map<string, { readonly beat: number; readonly since: number }>();

  /** What a line showed, when it had come here at `now`. */
  see(places: readonly Beating[], now: number): void {
    this.#seen = new Map(
      places.map(({ id, beat }) => {
        const before = this.#seen.get(id);
        return [id, before?.beat === beat ? before : { beat, since: now }];
      }),
    );
  }

  by(now: number): Sight {
    const remaining = ({ id, beat, life }: Beating): number => {
      const seen = this.#seen.get(id);
      return life - (seen?.beat === beat ? now - seen.since : 0);
    };
    return { remaining, at: undefined };
  }
}

/**
 * By the store's clock.
 * @param time what it showed at a read that has just come
 * @param spent ms since that was asked for
 */
export const byStore = (time: number, spent: number): Sight => ({
  // Judged by the earlier end of what the time may be now, set by the later: so a lapse is late rather than early.
  remaining: ({ life, at = time }) => at + life - time,
  at: time + spent,
});
