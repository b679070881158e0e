import { type LockError, quoted } from '../contract/errors.ts';
import { onAbort } from '../contract/promises.ts';

/** A hold, as the listeners for its loss see it. */
interface ListenedHold {
  readonly claim: { readonly key: string };
  readonly over: boolean;
  readonly loss: LockError | undefined;
}

/**
 * If a caller drops a lease without a release, as with `Promise.race`, nobody can release the hold any more, and it is renewed until its `Locks` are
 * closed. When the lease is garbage-collected, a warning says so. The hold is not ended, since a caller may want to hold for as long as the process
 * lives, and keep only the signal.
 */
const dropped = new FinalizationRegistry<ListenedHold>((hold) => {
  if (hold.over) return;
  process.emitWarning(
    `a lease of ${quoted(hold.claim.key)} was dropped without a release: it is renewed until a close. Release it, or use run()`,
    'HoldfastDroppedLeaseWarning',
  );
});

type LossListener = (loss: LockError) => void;

/** The listeners for the loss of a hold, the waits inside of it, and its leases that callers have to release themselves. */
export class HoldListeners {
  readonly #hold: ListenedHold;
  readonly #listeners = new Set<LossListener>();
  readonly #recentLeases: object[] = [];
  #waitsInside = 0;
  #unfollow: (() => void) | undefined;

  constructor(hold: ListenedHold) {
    this.#hold = hold;
  }

  /** Calls `listener` at the loss, or at once if the hold is lost. @returns a function that takes the listener away */
  onLoss(listener: LossListener): () => void {
    if (this.#hold.loss) listener(this.#hold.loss);
    else this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  notify(loss: LockError): void {
    for (const listener of [...this.#listeners]) listener(loss);
  }

  /** Calls `onLost` when the engine has ended the hold: at once, if `lost` has aborted already. */
  follow(lost: AbortSignal, onLost: () => void): void {
    if (!this.#hold.over) this.#unfollow = onAbort(lost, onLost);
  }

  unfollow(): void {
    this.#unfollow?.();
  }

  /** Whether work that the callers did not await waits inside of the hold for another lock. */
  get isWaitedInside(): boolean {
    return this.#waitsInside > 0;
  }

  /** Notes that a caller which has this hold begins to wait for another hold. @returns a function that notes the end of the wait */
  beginWait(): () => void {
    this.#waitsInside++;
    return () => void this.#waitsInside--;
  }

  /** Keeps the lease in memory until the next renewal registers it in `dropped`: to register it at once costs more than the rest of a short hold. */
  addLease(lease: object): void {
    this.#recentLeases.push(lease);
  }

  removeLease(lease: object): void {
    const at = this.#recentLeases.lastIndexOf(lease);
    if (at >= 0) this.#recentLeases.splice(at, 1);
    else dropped.unregister(lease); // a renewal has registered it
  }

  /** Warns from now on of each lease that is dropped. */
  watchLeases(): void {
    for (const lease of this.#recentLeases.splice(0)) dropped.register(lease, this.#hold, lease);
  }
}
