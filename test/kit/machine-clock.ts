/** A smaller change of the difference between two clocks is an error of measurement, ms. */
const LEAST_STEP_MS = 25;
const SAMPLES = 5;
const MAX_RUNS = 3;
const WATCH_EVERY_MS = 250;

/** What the wall clock of this machine is ahead of its monotonic clock, ms. This changes when the wall clock is set. */
export function wallOffset(): number {
  // A process that stops between the two calls finds too little.
  return Math.max(...Array.from({ length: SAMPLES }, () => Date.now() - performance.now()));
}

const inWords = (ms: number): string => `${ms > 0 ? 'forward' : 'back'} by ${Math.round(Math.abs(ms))} ms`;

/**
 * Runs a case again, twice at most, if it failed while the wall clock of this machine was set. Redis, MySQL and others count leases by that clock, and the promises
 * hold while it is not set forward (`docs/promises.md`). Says each time what happened.
 */
export async function unlessClockIsSet<T>(
  name: string,
  run: () => Promise<T>,
  { offset, say }: { offset(): number; say(line: string): void } = { offset: wallOffset, say: console.warn },
): Promise<T> {
  for (let runs = 1; ; runs++) {
    const before = offset();
    try {
      return await run();
    } catch (error) {
      const step = offset() - before;
      if (Math.abs(step) < LEAST_STEP_MS || runs === MAX_RUNS) throw error;
      say(`"${name}" failed while the clock of this machine was set ${inWords(step)}, and runs again: ${error}`);
    }
  }
}

/** Notes each time that the wall clock of this machine is set. */
export class ClockWatch implements Disposable {
  readonly #lines: string[] = [];
  readonly #timer: NodeJS.Timeout;
  #offset = wallOffset();

  constructor() {
    this.#timer = setInterval(() => this.#look(), WATCH_EVERY_MS).unref();
  }

  /** A line for each time. */
  get lines(): readonly string[] {
    this.#look();
    return this.#lines;
  }

  #look(): void {
    const offset = wallOffset();
    const step = offset - this.#offset;
    if (Math.abs(step) < LEAST_STEP_MS) return;
    this.#offset = offset;
    this.#lines.push(`The clock of this machine was set ${inWords(step)} before ${new Date().toISOString()}.`);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
