import type { Cancel, Clock } from './clock.ts';

/** A timer that fires this late says that this process stood still: answers may lie unread. ms. */
const STALL = 20;
/** Longest time that the timer outlives the calls it was armed for: a call after another does not arm it anew. ms. */
const LINGER = 1_000;

interface Call {
  readonly due: number;
  expire(): void;
}

/**
 * Limits for calls under way, and one timer for all of them: nearly every call is answered long before, and a timer each would
 * cost more than many an answer. It keeps no process alive; what the call waits for does.
 */
export class Patience {
  readonly #clock: Clock;
  readonly #calls = new Set<Call>();
  #cancel: Cancel | undefined;
  #firesAt = Number.POSITIVE_INFINITY;
  #graced = false;
  #resting = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The answer, or after `ms` the error that `expired` makes.
   * @param late gets an answer that came after all; else it is dropped
   */
  bound<T>(answer: Promise<T>, ms: number, expired: () => Error, late?: (value: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      let over = false;
      const call: Call = {
        due: this.#clock.now() + ms,
        expire: () => {
          over = true;
          reject(expired());
        },
      };
      this.#calls.add(call);
      this.#watch(call.due);
      answer.then(
        (value) => {
          this.#end(call);
          if (over) late?.(value);
          else resolve(value);
        },
        (error) => {
          this.#end(call);
          reject(error);
        },
      );
    });
  }

  /** From now on no timer stays when nothing is under way. What is keeps its limit. */
  rest(): void {
    this.#resting = true;
    this.#settle();
  }

  /** Whoever still waits is told that nothing came. */
  close(): void {
    for (const call of [...this.#calls]) this.#expire(call);
    this.rest();
  }

  #end(call: Call): void {
    this.#calls.delete(call);
    if (this.#resting) this.#settle();
  }

  #settle(): void {
    if (this.#calls.size > 0) return;
    this.#cancel?.();
    this.#firesAt = Number.POSITIVE_INFINITY;
  }

  #watch(due: number): void {
    if (due >= this.#firesAt) return;
    this.#cancel?.();
    const now = this.#clock.now();
    this.#firesAt = Math.min(due, now + LINGER);
    this.#cancel = this.#clock.after(Math.max(0, this.#firesAt - now), () => this.#fire(), true);
  }

  #fire(): void {
    const now = this.#clock.now();
    const stalled = now - this.#firesAt > STALL;
    this.#firesAt = Number.POSITIVE_INFINITY;
    // What lies in the sockets is read before the next timer. Once: a loop that is always late must not wait for ever.
    this.#graced = stalled && !this.#graced;
    if (this.#graced) {
      this.#watch(now + 1);
      return;
    }
    let next = Number.POSITIVE_INFINITY;
    for (const call of [...this.#calls]) {
      if (call.due <= now) this.#expire(call);
      else next = Math.min(next, call.due);
    }
    if (next < Number.POSITIVE_INFINITY) this.#watch(next);
  }

  #expire(call: Call): void {
    this.#calls.delete(call);
    call.expire();
  }
}
