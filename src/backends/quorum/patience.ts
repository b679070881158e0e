import type { Cancel, Clock } from '../../core/clock.ts';

/** A timer that fires this late says that this process stood still: answers may lie unread. ms. */
const STALL = 20;

interface Call {
  readonly due: number;
  expire(): void;
}

/** Bounds many calls with one timer: a round asks every node, and a timer for each would cost more than the call. */
export class Patience {
  readonly #clock: Clock;
  readonly #calls = new Set<Call>();
  #cancel: Cancel | undefined;
  #firesAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The answer, or a rejection after `ms`.
   * @param late gets an answer that came after all
   */
  bound<T>(answer: Promise<T>, ms: number, expired: () => void, late?: (value: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      let over = false;
      const call: Call = {
        due: this.#clock.now() + ms,
        expire: () => {
          over = true;
          expired();
          reject(new Error(`no answer within ${Math.round(ms)} ms`));
        },
      };
      this.#calls.add(call);
      this.#watch(call.due);
      answer.then(
        (value) => {
          this.#calls.delete(call);
          if (over) late?.(value);
          else resolve(value);
        },
        (error) => {
          this.#calls.delete(call);
          reject(error);
        },
      );
    });
  }

  close(): void {
    this.#cancel?.();
    for (const call of [...this.#calls]) this.#expire(call);
  }

  #watch(due: number): void {
    if (due >= this.#firesAt) return;
    this.#cancel?.();
    this.#firesAt = due;
    this.#cancel = this.#clock.after(Math.max(0, due - this.#clock.now()), () => this.#fire(), true);
  }

  #fire(): void {
    const now = this.#clock.now();
    const stalled = now - this.#firesAt > STALL;
    this.#firesAt = Number.POSITIVE_INFINITY;
    if (stalled) {
      this.#watch(now + 1); // what lies in the sockets is read before the next timer
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
