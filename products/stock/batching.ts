import { setImmediate } from 'node:timers';
import type { Reply, Step } from './cell.ts';

/**
 * An act that many callers ask for at the same time. Callers that ask while an act runs share the next act. So it begins after each
 * of them asked, and many callers cost no more than one. Only callers with the same argument share an act.
 */
export class Shared<T, A = void> {
  readonly #act: (argument: A) => Promise<T>;
  #running: Promise<unknown> = Promise.resolve();
  #next: { readonly argument: A; readonly result: Promise<T> } | undefined;

  constructor(act: (argument: A) => Promise<T>) {
    this.#act = act;
  }

  ask(argument: A): Promise<T> {
    if (this.#next && this.#next.argument === argument) return this.#next.result;
    const result = this.#running.then(() => {
      if (this.#next?.result === result) this.#next = undefined;
      return this.#act(argument);
    });
    this.#next = { argument, result };
    this.#running = result.catch(() => {});
    return result;
  }
}

/** The most orders of one step, so that no step takes long. */
export const MAX_ORDERS = 100;

/** Orders that go in one step. */
interface Batch {
  readonly steps: Step[];
  readonly replies: Promise<readonly Reply[]>;
}

/**
 * Puts all orders that come for one cell in one turn of the event loop into one step, in the order in which they came. For the engine,
 * one more order in a step costs much less than one more step. No order waits for later turns.
 */
export class StepBatcher {
  readonly #act: (cell: number, steps: readonly Step[]) => Promise<readonly Reply[]>;
  /** By cell: the batch that is not sent yet. */
  readonly #gathering = new Map<number, Batch>();

  constructor(act: (cell: number, steps: readonly Step[]) => Promise<readonly Reply[]>) {
    this.#act = act;
  }

  async ask(cell: number, step: Step): Promise<Reply> {
    const { steps, replies } = this.#gathering.get(cell) ?? this.#gather(cell);
    const place = steps.push(step) - 1;
    if (steps.length === MAX_ORDERS) this.#gathering.delete(cell);
    return (await replies)[place]!;
  }

  #gather(cell: number): Batch {
    const steps: Step[] = [];
    const replies = new Promise<void>((leave) => setImmediate(leave)).then(() => {
      if (this.#gathering.get(cell) === batch) this.#gathering.delete(cell);
      return this.#act(cell, steps);
    });
    const batch = { steps, replies };
    this.#gathering.set(cell, batch);
    return batch;
  }
}
