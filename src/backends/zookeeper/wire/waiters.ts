import type { Clock } from '../../../core/clock.ts';

interface Waiter<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** Those who wait for the same thing, each for as long as it wants. */
export class Waiters<T> {
  readonly #waiters = new Set<Waiter<T>>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param late what to reject with after `within` ms */
  wait(within: number, late: () => Error): Promise<T> {
    let waiter: Waiter<T>;
    const waiting = new Promise<T>((resolve, reject) => {
      waiter = { resolve, reject };
      this.#waiters.add(waiter);
    });
    const cancel = this.#clock.after(within, () => waiter.reject(late()));
    return waiting.finally(() => {
      cancel();
      this.#waiters.delete(waiter);
    });
  }

  resolve(value: T): void {
    for (const { resolve } of this.#waiters) resolve(value);
  }

  reject(error: unknown): void {
    for (const { reject } of this.#waiters) reject(error);
  }
}
