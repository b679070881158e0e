import { quoted } from '../contract/errors.ts';

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

/** The leases that callers have to release, of one hold. */
export class CallerLeases {
  readonly #recent: object[] = [];

  /** A lease is kept alive until the next renewal: to watch it at once would cost more than all the rest of a short hold. */
  add(lease: object): void {
    this.#recent.push(lease);
  }

  /** It was released, or a `run` sees to its release. */
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
