import type { LockError } from '../contract/errors.ts';

/** `lost`: the holder was told to stop, and may hold until the deadline. `released`: given back, or passed on. `ended`: over by itself. */
type State = 'held' | 'lost' | 'released' | 'ended';

/** The next states of each state. A hold in a state without a next one is over. */
const NEXT: Readonly<Record<State, readonly State[]>> = {
  held: ['lost', 'released', 'ended'],
  lost: ['released', 'ended'],
  released: [],
  ended: [],
};

type LossListener = (loss: LockError) => void;

/** The life of a hold, and the listeners for its loss. */
export class HoldLife {
  #state: State = 'held';
  #loss: LockError | undefined;
  /** Most holds need none. */
  #listeners: Set<LossListener> | undefined;

  get over(): boolean {
    return NEXT[this.#state].length === 0;
  }

  get loss(): LockError | undefined {
    return this.#loss;
  }

  /** Goes to a state, if the table allows it. @returns whether it does */
  become(state: State): boolean {
    const may = NEXT[this.#state].includes(state);
    if (may) this.#state = state;
    return may;
  }

  /** @returns a function that tells the listeners. They may run anything, such as a release or `close`, so call it when all else is done. */
  lostBy(loss: LockError): () => void {
    this.#loss = loss;
    return () => {
      for (const tell of [...(this.#listeners ?? [])]) tell(loss);
    };
  }

  /** Calls `listener` at the loss, or at once if the hold is lost. @returns a function that takes the listener away */
  onLoss(listener: LossListener): () => void {
    if (this.#loss) {
      listener(this.#loss);
      return () => {};
    }
    this.#listeners ??= new Set();
    const listeners = this.#listeners.add(listener);
    return () => void listeners.delete(listener);
  }
}
