import { LockError, quoted } from '../contract/errors.ts';

interface LeasedHold {
  readonly life: { readonly over: boolean };
  readonly claim: { readonly key: string };
}

/**
 * A lease that is dropped without a release, as by `Promise.race`, is renewed until its `Locks` are closed, and nobody can release it any
 * more. A warning tells so when it is collected. The hold is not ended: a caller may hold for as long as the process lives, and keep only
 * the signal.
 */
const leases = new FinalizationRegistry<LeasedHold>(({ life, claim }) => {
  if (life.over) return;
  process.emitWarning(
    `a lease of ${quoted(claim.key)} was dropped without a release; it is renewed until its Locks are closed. Release it, or use run()`,
    'HoldfastDroppedLeaseWarning',
  );
});

/** The leases of one hold that callers have to release themselves. */
class CallerLeases {
  readonly #recent: object[] = [];

  /** A lease is kept alive until the next renewal: to watch it at once would cost more than all the rest of a short hold. */
  add(lease: object): void {
    this.#recent.push(lease);
  }

  remove(lease: object): void {
    const at = this.#recent.lastIndexOf(lease);
    if (at >= 0) this.#recent.splice(at, 1);
    else leases.unregister(lease); // it may be watched already
  }

  /** From now on a warning tells of a lease that was dropped. */
  watch(hold: LeasedHold): void {
    for (const lease of this.#recent.splice(0)) leases.register(lease, hold, lease);
  }
}

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
  /** It is made for the first lease: `run` sees to the release of its own. */
  #leases: CallerLeases | undefined;
  #users = 1;
  #waitsInside = 0;
  /** It is made for the first listener: most holds have none. */
  #listeners: Set<LossListener> | undefined;

  /** The number of callers that share it: the first one, and those that re-entered. */
  get users(): number {
    return this.#users;
  }

  /** Lets one more caller share it. */
  enter(): void {
    this.#users++;
  }

  /** @returns whether the last caller has left */
  leave(): boolean {
    return --this.#users === 0;
  }

  /** Whether work that its callers left behind waits inside of it. */
  get isWaitedInside(): boolean {
    return this.#waitsInside > 0;
  }

  /** Notes that a caller which has this hold begins to wait for another one. @returns a function that ends that */
  beginWaitInside(): () => void {
    this.#waitsInside++;
    return () => {
      this.#waitsInside--;
    };
  }

  get leases(): CallerLeases {
    this.#leases ??= new CallerLeases();
    return this.#leases;
  }

  /** Warns from now on of the leases that are dropped without a release. */
  watchLeases(hold: LeasedHold): void {
    this.#leases?.watch(hold);
  }

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
