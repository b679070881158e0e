import type { Cancel, Clock } from '../../core/index.ts';

/** What a watch calls when it fires. */
export interface Notify {
  (): void;
  /** Whether nobody waits for it any more. */
  isOver(): boolean;
}

/** Sets the one-time watch that is needed now, and gives what ends it. Gives undefined when there is nothing to wait for any more. */
type SetWatch = (notify: Notify) => Promise<Cancel | undefined>;

/** The pause before a watch that could not be set is set again, ms. Meanwhile the claim asks by its own timer. */
const RETRY_MS = 250;

/** A watch that goes on: each time the server's one-time watch fires, the next one is set, until it is disposed of. */
export class RepeatedWatch implements AsyncDisposable {
  readonly #set: SetWatch;
  readonly #trouble: () => void;
  readonly #clock: Clock;
  #over = false;
  #turn = 0;
  #cancel: Cancel = () => {};

  /** @param trouble called when a watch could not be set */
  constructor(set: SetWatch, trouble: () => void, clock: Clock) {
    this.#set = set;
    this.#trouble = trouble;
    this.#clock = clock;
  }

  /** Settles when the first watch is set. Never rejects. */
  async arm(): Promise<void> {
    if (this.#over) return;
    const turn = ++this.#turn;
    // Only the first watch of this turn that fires starts the next turn. Otherwise one thing would be watched twice.
    const isOver = (): boolean => this.#over || turn !== this.#turn;
    const notify = (): void => {
      if (!isOver()) void this.arm();
    };
    try {
      const cancel = await this.#set(Object.assign(notify, { isOver }));
      if (!cancel) this.#over = true;
      else if (this.#over) cancel();
      else if (!isOver()) this.#cancel = cancel;
    } catch {
      if (this.#over) return;
      this.#cancel = this.#clock.after(RETRY_MS, () => void this.arm(), true);
      this.#trouble();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    this.#cancel();
  }
}

export const together = (...watches: (AsyncDisposable | undefined)[]): AsyncDisposable => ({
  [Symbol.asyncDispose]: async () => {
    await Promise.all(watches.map((watch) => watch?.[Symbol.asyncDispose]()));
  },
});

/** Wakes a claim each time something of it changes, when the next watch is set. @param set sets a one-time watch, of a value or a hold */
export function watchEach(set: (notify: Notify) => Promise<Cancel>, wake: () => void, clock: Clock): RepeatedWatch {
  let isFirst = true;
  const setAgain: SetWatch = async (notify) => {
    const cancel = await set(notify);
    if (!isFirst) wake();
    isFirst = false;
    return cancel;
  };
  return new RepeatedWatch(setAgain, wake, clock);
}
