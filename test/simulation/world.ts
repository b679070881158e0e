import { setImmediate as drained } from 'node:timers/promises';

interface Event {
  readonly at: number;
  readonly fn: () => void;
}

/** True time, which nobody inside the simulation can see, and everything that is going to happen in it. ms. */
export class World {
  now = 0;
  /** Sorted by time; of one time, in the order they were asked for. */
  readonly #events: Event[] = [];

  at(time: number, fn: () => void): void {
    const at = Math.max(time, this.now);
    let low = 0;
    for (let high = this.#events.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (this.#events[middle]!.at <= at) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, { at, fn });
  }

  in(ms: number, fn: () => void): void {
    this.at(this.now + ms, fn);
  }

  /** One event after the other, each with all that follows from it at once; `seen` looks after each. */
  async run(until: number, seen: () => unknown, done: () => boolean = () => false): Promise<void> {
    await drained();
    while (!done() && this.#events.length > 0 && this.#events[0]!.at <= until) {
      const { at, fn } = this.#events.shift()!;
      this.now = at;
      fn();
      await drained();
      await seen();
    }
    if (!done()) this.now = until;
  }
}
