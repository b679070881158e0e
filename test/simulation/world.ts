import { setImmediate as drained } from 'node:timers/promises';

interface Event {
  readonly at: number;
  readonly fn: () => void;
  cancelled?: true;
}

/** True time, which nobody inside the simulation can see, and everything that is going to happen in it. ms. */
export class World {
  now = 0;
  /** Sorted by time; of one time, in the order they were asked for. */
  readonly #events: Event[] = [];

  /** @returns cancels it: then it takes no time either */
  at(time: number, fn: () => void): () => void {
    const at = Math.max(time, this.now);
    let low = 0;
    for (let high = this.#events.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (this.#events[middle]!.at <= at) low = middle + 1;
      else high = middle;
    }
    const event: Event = { at, fn };
    this.#events.splice(low, 0, event);
    return () => {
      event.cancelled = true;
    };
  }

  in(ms: number, fn: () => void): () => void {
    return this.at(this.now + ms, fn);
  }

  /** When the next thing happens; never: infinite. */
  get next(): number {
    while (this.#events[0]?.cancelled) this.#events.shift();
    return this.#events[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  /** The next thing happens. */
  step(): void {
    const { at, fn } = this.#events.shift()!;
    this.now = at;
    fn();
  }

  /** One event after the other, each with all that follows from it at once; `seen` looks after each. */
  async run(until: number, seen: () => unknown, done: () => boolean = () => false): Promise<void> {
    await drained();
    while (!done() && this.next <= until) {
      this.step();
      await drained();
      await seen();
    }
    if (!done()) this.now = until;
  }
}
