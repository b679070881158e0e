import { type LockError, quoted } from '../contract/errors.ts';

/** A hold, as those see it that hear of its loss. */
interface HeardHold {
  readonly claim: { readonly key: string };
  readonly over: boolean;
  readonly loss: LockError | undefined;
}

/**
 * A lease that is dropped without a release, as by `Promise.race`, is renewed until its `Locks` are closed, and nobody can release it any
 * more. A warning tells so when it is collected. The hold is not ended: a caller may hold for as long as the process lives, and keep only
 * the signal.
 */
const dropped = new FinalizationRegistry<HeardHold>((hold) => {
  if (hold.over) return;
  process.emitWarning(
    `a lease of ${quoted(hold.claim.key)} was dropped without a release; it is renewed until its Locks are closed. Release it, or use run()`,
    'HoldfastDroppedLeaseWarning',
  );
});

type LossListener = (loss: LockError) => void;

/** What hangs on a hold: the listeners for its loss, the waits inside of it, and the leases that callers have to release themselves. */
export class HoldListeners {
  readonly #hold: HeardHold;
  readonly #listeners = new Set<LossListener>();
  readonly #recentLeases: object[] = [];
  #waitsInside = 0;
  #unfollow: (() => void) | undefined;

  constructor(hold: HeardHold) {
    this.#hold = hold;
  }

  /** Calls `listener` at the loss, or at once if the hold is lost. @returns a function that takes the listener away */
  onLoss(listener: LossListener): () => void {
    if (this.#hold.loss) {
      listener(this.#hold.loss);
      return () => {};
    }
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(loss: LockError): void {
    for (const listener of [...this.#listeners]) listener(loss);
  }

  /** Calls `onLost` when the engine says that it ended the hold: at once, if it has said so before. */
  follow(lost: AbortSignal, onLost: () => void): void {
    if (this.#hold.over) return;
    if (lost.aborted) {
      onLost();
      return;
    }
    lost.addEventListener('abort', onLost, { once: true });
    this.#unfollow = () => lost.removeEventListener('abort', onLost);
  }

  unfollow(): void {
    this.#unfollow?.();
  }

  /** Whether work that the callers left behind waits inside of the hold. */
  get isWaitedInside(): boolean {
    return this.#waitsInside > 0;
  }

  /** Notes that a caller which has this hold begins to wait for another one. @returns a function that ends that */
  beginWait(): () => void {
    this.#waitsInside++;
    return () => {
      this.#waitsInside--;
    };
  }

  /** A lease is kept alive until the next renewal: to watch it at once would cost more than all the rest of a short hold. */
  addLease(lease: object): void {
    this.#recentLeases.push(lease);
  }

  removeLease(lease: object): void {
    const at = this.#recentLeases.lastIndexOf(lease);
    if (at >= 0) this.#recentLeases.splice(at, 1);
    else dropped.unregister(lease); // it may be watched already
  }

  /** Warns from now on of each lease that is dropped. */
  watchLeases(): void {
    for (const lease of this.#recentLeases.splice(0)) dropped.register(lease, this.#hold, lease);
  }
}
