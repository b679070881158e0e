import { setImmediate } from 'node:timers';
import type { Cells } from './look.ts';
import type { Reply, Step } from './step.ts';

/** The most orders of one step, so that no step takes long. */
export const MOST = 100;

/** Orders that go in one step. */
interface Batch {
  readonly steps: Step[];
  readonly replies: Promise<readonly Reply[]>;
}

/**
 * Orders that come for one cell in one turn of the event loop go to it in one step, in the order in which they came. For the engine,
 * one more order in a step costs much less than one more step. No order waits for others to come.
 */
export class StepBatcher {
  readonly #cells: Cells;
  /** Those that have not left yet, by cell. */
  readonly #gathering = new Map<number, Batch>();

  constructor(cells: Cells) {
    this.#cells = cells;
  }

  async ask(cell: number, step: Step): Promise<Reply> {
    const { steps, replies } = this.#gathering.get(cell) ?? this.#gather(cell);
    const place = steps.push(step) - 1;
    if (steps.length === MOST) this.#gathering.delete(cell);
    return (await replies)[place]!;
  }

  #gather(cell: number): Batch {
    const steps: Step[] = [];
    const replies = new Promise<void>((leave) => setImmediate(leave)).then(() => {
      if (this.#gathering.get(cell) === crowd) this.#gathering.delete(cell);
      return this.#cells.step(cell, ...steps);
    });
    const crowd = { steps, replies };
    this.#gathering.set(cell, crowd);
    return crowd;
  }
}
