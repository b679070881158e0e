import type { LockEvent } from './events.ts';
import type { Hold } from './hold.ts';

/** Tells what became of a hold. */
export function tellOf(
  hold: Hold,
  name: 'renewed' | 'renewalFailed' | 'lost' | 'released',
  more: () => Partial<LockEvent>,
): void {
  hold.request?.events.tell(name, hold.exclusive ? hold.token : undefined, more);
}

/** Tells how its request came by it. */
export function tellGranted(hold: Hold): void {
  const token = hold.exclusive ? hold.token : undefined;
  hold.request?.events.ends(hold.tenure.passes > 0 ? 'handedOver' : 'acquired', token);
}
