import type { LockError } from '../contract/errors.ts';

/** `lost`: its holder was told to stop, and may hold it until the deadline. `released`: or passed on. `ended`: by itself. */
type State = 'held' | 'lost' | 'released' | 'ended';

/** What may become of a hold. Where nothing may, it is over. */
const NEXT: Readonly<Record<State, readonly State[]>> = {
  held: ['lost', 'released', 'ended'],
  lost: ['released', 'ended'],
  released: [],
  ended: [],
};

type LossListener = (loss: LockError) => void;

/** The life of a hold, and whom its loss is told. */
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

  /** Whether that may come now; then it has. */
  become(state: State): boolean {
    const may = NEXT[this.#state].includes(state);
    if (may) this.#state = state;
    return may;
  }

  /** @returns what tells of it. It may run anything, such as a release or `close`, so it comes when all else is done. */
  lostBy(loss: LockError): () => void {
    this.#loss = loss;
    return () => {
      for (const tell of [...(this.#listeners ?? [])]) tell(loss);
    };
  }

  /** Calls `listener` at the loss, at once if it is lost; what is given ends that. */
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
