import type { Cancel, Clock } from './clock.ts';

/** A call under way. */
interface Call {
  readonly due: number;
  /** Nobody waits for its answer any more. */
  expire(): void;
}

/**
 * Limits for the calls under way, and one timer for all of them: nearly every call is answered long before, and a timer each
 * would cost more than many an answer. It keeps no process alive; what the call waits for does.
 */
export class Patience {
  readonly #clock: Clock;
  readonly #calls = new Set<Call>();
  #timer: Cancel | undefined;
  #dueAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The call's answer, or `late`'s error after `ms`. A later answer is dropped. */
  with<T>(call: Promise<T>, ms: number, late: () => Error): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const limited = { due: this.#clock.now() + ms, expire: () => reject(late()) };
      this.#add(limited);
      call.then(
        (answer) => {
          this.#calls.delete(limited);
          resolve(answer);
        },
        (error) => {
          this.#calls.delete(limited);
          reject(error);
        },
      );
    });
  }

  /** No timer stays for the sake of calls that were answered. */
  rest(): void {
    if (this.#calls.size === 0) this.#disarm();
  }

  #add(call: Call): void {
    this.#calls.add(call);
    if (call.due < this.#dueAt) this.#arm(call.due);
  }

  #arm(at: number): void {
    this.#disarm();
    this.#dueAt = at;
    this.#timer = this.#clock.after(Math.max(0, at - this.#clock.now()), () => this.#pass(), true);
  }

  #disarm(): void {
    this.#timer?.();
    this.#timer = undefined;
    this.#dueAt = Number.POSITIVE_INFINITY;
  }

  #pass(): void {
    this.#disarm();
    const now = this.#clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const call of this.#calls) {
      if (call.due > now) next = Math.min(next, call.due);
      else {
        this.#calls.delete(call);
        call.expire();
      }
    }
    if (next < Number.POSITIVE_INFINITY) this.#arm(next);
  }
}
