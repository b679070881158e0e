import { leastOf } from '../../src/core/index.ts';

export interface Pace {
  /** The shortest time from the end of a look to the next, ms. */
  readonly least: number;
  /** The part of the engine's time that looks may take: 0 to 1. Undefined: no limit. */
  readonly share: number | undefined;
}

/** The longest pause, ms, however long a look takes: an older page is of little use. */
export const MAX_PAUSE_MS = 300_000;
/** The part of an engine's time that looks take by default. */
export const DEFAULT_TIME_PART = 0.01;
/** The shortest pause by default, ms. */
export const MIN_PAUSE_MS = 1_000;
/** The first pause after a failure, ms. Each failure doubles the pause, up to `MAX_RETRY_MS`. */
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 5_000;

/** The pause depends on the shortest of so many last looks. */
const MAX_LOOKS = 5;
/** The first look also opens connections. If it took less than this time, ms, the next look comes soon, to measure better. */
const QUICK_LOOK_MS = 500;

/** With so many requests or more, the quickest quarter of them shows how long a request takes. */
const MIN_SAMPLES = 8;
/** A request may take this many times as long. More is a wait for a processor, and does not count. */
const UNLIKE_FACTOR = 4;

/** How long requests kept an engine busy, ms, estimated from the duration of each. */
export function busyFor(requests: readonly number[]): number {
  const sorted = [...requests].sort((a, b) => a - b);
  const most =
    requests.length < MIN_SAMPLES ? Number.POSITIVE_INFINITY : UNLIKE_FACTOR * sorted[Math.floor(sorted.length / 4)]!;
  return requests.reduce((sum, took) => sum + Math.min(took, most), 0);
}

/** The time that looks cost an engine. Each estimate is mostly too high, so the lowest of several is the best. */
export class Cost {
  readonly #busy: number[] = [];

  /** @param busy the engine's time for one look, ms */
  add(busy: number): void {
    this.#busy.push(busy);
    if (this.#busy.length > MAX_LOOKS) this.#busy.shift();
  }

  pause(pace: Pace): number {
    const least = leastOf(this.#busy);
    return this.#busy.length === 1 && least < QUICK_LOOK_MS ? pace.least : pauseAfter(least, pace);
  }
}

/** The pause after a look that kept the engine busy for `busy` ms. */
export function pauseAfter(busy: number, { least, share }: Pace): number {
  if (share === undefined) return least;
  return Math.max(least, Math.min(MAX_PAUSE_MS, Math.ceil(busy / share - busy)));
}

/** The pause after so many failures in a row (at least 1), ms. */
export const retryAfter = (failures: number): number => Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));

/** Measures requests one after the other, without the time in which this process itself computes. */
export class Stopwatch {
  readonly laps: number[] = [];
  #began = performance.now();
  #own = process.cpuUsage();

  /** Call this when a request has been answered. */
  lap(): void {
    const [began, own] = [this.#began, this.#own];
    this.#began = performance.now();
    this.#own = process.cpuUsage();
    const computed = (this.#own.user - own.user + this.#own.system - own.system) / 1_000;
    // An engine may work on the next request while this process reads the last answer. So at least a quarter of the time counts.
    const took = this.#began - began;
    this.laps.push(Math.max(took - computed, took / 4));
  }
}

/** Repeats a function while `wanted` is true, with the pauses that the function returns. */
export class Loop {
  readonly #once: (goesOn: () => boolean) => Promise<number>;
  #wanted = false;
  #running = false;
  #endPause: () => void = () => {};

  /**
   * @param once never rejects, and returns the pause until the next call, ms; it may end early when `goesOn` gives false
   */
  constructor(once: (goesOn: () => boolean) => Promise<number>) {
    this.#once = once;
  }

  set wanted(wanted: boolean) {
    this.#wanted = wanted;
    if (wanted && !this.#running) void this.#run();
    if (!wanted) this.hurry();
  }

  hurry(): void {
    this.#endPause();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#wanted) {
      const pause = await this.#once(() => this.#wanted);
      if (this.#wanted) await this.#sleep(pause);
    }
    this.#running = false;
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
