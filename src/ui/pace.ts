/** How often to look at an engine. */
export interface Pace {
  /** The shortest time from the end of a look to the next, ms. */
  readonly least: number;
  /** The part of the time that looks may take, at most; undefined: whatever they take. */
  readonly share: number | undefined;
}

/** However long a look takes, there is another after this time: a page that is older is of little use. ms. */
export const LONGEST_PAUSE = 300_000;
/** What a look may take of an engine's time by default. */
export const SHARE = 0.01;
/** The shortest pause by default, ms. */
export const LEAST = 1_000;
/** Pauses while the engine does not answer: the first, doubled up to the last. ms. */
const FIRST_RETRY = 500;
const LAST_RETRY = 5_000;

/** Looks of which the shortest counts. */
const REMEMBERED = 5;
/** The first look opens connections, too: after one that took less than this there is soon another, to know better. ms. */
const FIRST = 500;

/** What looks cost an engine, as far as one can see from here: only ever too much. Of several the least is nearest to it. */
export class Cost {
  readonly #busy: number[] = [];

  /** @param took ms from the first request to the last answer, and of these the processor time of this process */
  add(took: number, own: number): void {
    this.#busy.push(Math.max(took - own, took / 4));
    if (this.#busy.length > REMEMBERED) this.#busy.shift();
  }

  pause(pace: Pace): number {
    const least = Math.min(...this.#busy);
    return this.#busy.length === 1 && least < FIRST ? pace.least : pauseAfter(least, pace);
  }
}

/** The pause after a look that kept the engine busy for `busy` ms. */
export function pauseAfter(busy: number, { least, share }: Pace): number {
  if (share === undefined) return least;
  return Math.max(least, Math.min(LONGEST_PAUSE, Math.ceil(busy / share - busy)));
}

/** The pause after so many failures in a row, 1 or more. */
export const retryAfter = (failures: number): number => Math.min(LAST_RETRY, FIRST_RETRY * 2 ** (failures - 1));
