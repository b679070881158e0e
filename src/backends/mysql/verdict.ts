import { Tally, type Units } from '../../core/contract/admission.ts';
import type { Claim, Grant, Refusal } from '../../core/contract/backend.ts';
import { leastOf } from '../../core/contract/extremes.ts';
import { expiry, type LiveLine, MICRO, type StoredClaim } from './stored-line.ts';

/** What a line says of a claim. `first`: the token of the claim that stands first. */
export type LineAttempt = Grant | (Refusal & { readonly first?: bigint });

export const grantOf = (token: bigint, { ttl }: Claim): Grant => ({ granted: true, token, validFor: ttl });

/** Whether one more claim, at the end of the line, would be admitted. */
export function fits(places: readonly StoredClaim[], newcomer: Units): boolean {
  const tally = new Tally();
  for (const place of places) {
    if (!tally.fits(place)) return false;
    tally.add(place);
  }
  return tally.fits(newcomer);
}

export function refusal({ places, held }: LiveLine, ahead: number, now: number): LineAttempt {
  const expires = places.slice(0, ahead).map((place, position) => expiry(place, position < held));
  return { granted: false, ahead, retryAfter: (leastOf(expires) - now) / MICRO, first: places[0]?.token };
}
