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

/** Requests of which the quickest quarter says how long one takes. */
const MANY = 8;
/** A request may be so many times as much work as these. What it takes longer than that, it has waited for a processor. */
const UNLIKE = 4;

/** ms for which requests kept an engine busy, as far as one can see from how long each took. */
export function busyFor(requests: readonly number[]): number {
  const sorted = [...requests].sort((a, b) => a - b);
  const most = requests.length < MANY ? Number.POSITIVE_INFINITY : UNLIKE * sorted[Math.floor(sorted.length / 4)]!;
  return requests.reduce((sum, took) => sum + Math.min(took, most), 0);
}

/** What looks cost an engine, as far as one can see from here: mostly too much. Of several the least is nearest to it. */
export class Cost {
  readonly #busy: number[] = [];

  /** @param busy ms */
  add(busy: number): void {
    this.#busy.push(busy);
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
