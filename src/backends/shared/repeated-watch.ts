import type { Cancel, Clock } from '../../core/index.ts';

/** The function that a watch calls when it fires. */
export interface Notify {
  (): void;
  /** Whether nobody waits for this watch any more. */
  isOver(): boolean;
}

/** Sets the one-time watch that is needed now. @returns the function that ends that watch; undefined if there is nothing to wait for any more */
type SetWatch = (notify: Notify) => Promise<Cancel | undefined>;

/** The pause after a watch could not be set, ms. Meanwhile the claim asks by its own timer. */
const RETRY_MS = 250;

/** A watch for servers whose watches fire once: after each one, the next one is set, until this object is disposed of. */
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

  /** Sets the next watch. Never rejects. */
  async arm(): Promise<void> {
    if (this.#over) return;
    const turn = ++this.#turn;
    // Several watches of one turn may fire. Only the first one starts the next turn: otherwise two turns would watch the same.
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

/** Wakes a claim after each change, as soon as the next watch is set. @param set sets a one-time watch of a value, or of a hold */
export function watchEach(set: (notify: Notify) => Promise<Cancel>, wake: () => void, clock: Clock): RepeatedWatch {
  let tries = 0;
  const setAgain: SetWatch = async (notify) => {
    const isAgain = tries++ > 0; // also after a try that failed: a change may have come in between
    const cancel = await set(notify);
    if (isAgain) wake();
    return cancel;
  };
  return new RepeatedWatch(setAgain, wake, clock);
}
