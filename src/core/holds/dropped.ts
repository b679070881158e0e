import { quoted } from '../contract/errors.ts';
import type { Hold } from './hold.ts';

/**
 * A lease that is dropped without a release, as by `Promise.race`, is renewed until its `Locks` are closed, and nobody can
 * release it any more: it is warned of when it is collected. Not ended: somebody may hold for as long as the process lives, and
 * keep the signal only.
 */
const leases = new FinalizationRegistry<Hold>(({ life, claim }) => {
  if (life.over) return;
  process.emitWarning(
    `a lease of ${quoted(claim.key)} was dropped without a release; it is renewed until its Locks are closed. Release it, or use run()`,
    'HoldfastDroppedLeaseWarning',
  );
});

/** From now on the lease, which is renewed, is warned of when it is dropped. */
export const warnOfDrop = (lease: object, hold: Hold): void => leases.register(lease, hold, lease);

/** It is released. */
export const released = (lease: object): void => void leases.unregister(lease);
