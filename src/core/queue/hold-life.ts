import { LockError, quoted } from '../contract/errors.ts';
import { CallerLeases } from './dropped-lease.ts';

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
  /** Whether no state comes after the one that it is in. */
  over = false;
  /** The error that says why and when it was lost. */
  loss: LockError | undefined;
  readonly leases = new CallerLeases();
  /** It is made for the first listener: most holds have none. */
  #listeners: Set<LossListener> | undefined;

  /** Goes to a state, if the table allows it. @returns whether it does */
  become(state: State): boolean {
    if (!NEXT[this.#state].includes(state)) return false;
    this.#state = state;
    this.over = NEXT[state].length === 0;
    return true;
  }

  /**
   * @returns a function that tells the listeners. They may run anything, such as a release or `close`, so call it when all else is done.
   */
  endByLoss(loss: LockError): () => void {
    this.loss = loss;
    return () => {
      for (const tell of [...(this.#listeners ?? [])]) tell(loss);
    };
  }

  /** Calls `listener` at the loss, or at once if the hold is lost. @returns a function that takes the listener away */
  onLoss(listener: LossListener): () => void {
    if (this.loss) {
      listener(this.loss);
      return () => {};
    }
    this.#listeners ??= new Set();
    const listeners = this.#listeners.add(listener);
    return () => void listeners.delete(listener);
  }
}

/** Makes the error that tells a holder of its loss. */
export function lossOf(key: string, backend: string, reason: string, cause: unknown): LockError {
  const message = `the hold of ${quoted(key)} on ${backend} is lost: ${reason}. Stop writing`;
  return new LockError('LOCK_LOST', message, { key, backend, cause });
}
