import type { Claim } from './backend.ts';
import { PLACE_TTL_MS, type Traits } from './traits.ts';

/** The times that follow from the options and the engine, ms. They are the same for all requests of the same terms. */
export interface Lengths {
  /** The lease that the holder counts on. With `minHold` a crash must not free the key early either. */
  readonly lease: number;
  /** The ttl that the engine is asked for: after an expiry it lets nobody in before `delay` is over. */
  readonly hold: number;
  /** The ttl of a claim that waits. */
  readonly waiter: number;
  /** The time after which the place of a claim that waits may expire; undefined where that is the usual one. */
  readonly place: number | undefined;
}

/** The options that decide the lengths, ms. */
interface LengthOptions {
  readonly ttl: number;
  readonly minHold: number;
  readonly delay: number;
  readonly spin: { readonly bound: number };
}

export const leaseLength = ({ ttl, minHold }: Pick<LengthOptions, 'ttl' | 'minHold'>): number => Math.max(ttl, minHold);

export function lengthsFor(options: LengthOptions, traits: Traits): Lengths {
  const lease = leaseLength(options);
  const hold = lease + options.delay;
  const place = traits.fair ? placeTtlFor(options.spin, traits) : undefined;
  const woken = traits.fair && traits.lifetime === 'lease' && traits.wakes !== 'never';
  const waiter = woken ? Math.min(hold + waiterMargin({ ttl: hold, placeTtl: place }), traits.ttl.max) : hold;
  return { lease, hold, waiter, place };
}

/**
 * Gives the time after which the place of a claim may expire without an attempt, ms.
 * @example placeTtlOf({ ttl: 30_000 }) === PLACE_TTL_MS; // a place dies sooner than a hold
 */
export const placeTtlOf = ({ ttl, placeTtl = PLACE_TTL_MS }: Pick<Claim, 'ttl' | 'placeTtl'>): number =>
  Math.min(ttl, placeTtl);

/**
 * Gives the time within which a place in line needs a sign of life, ms: a third of the time after which it may expire. It is also the safety
 * net beside every watch: a waiter asks at least this often.
 */
export const signOfLife = (claim: Pick<Claim, 'ttl' | 'placeTtl'>): number => placeTtlOf(claim) / 3;

/** Gives the `placeTtl` of a waiter that would rather cost the engine little: it asks every `spin.bound`, where the engine allows that. */
export function placeTtlFor({ bound }: LengthOptions['spin'], { placeTtl = PLACE_TTL_MS }: Traits): number | undefined {
  const wanted = Math.min(3 * bound, placeTtl);
  return wanted > PLACE_TTL_MS ? wanted : undefined;
}

/**
 * Gives how much longer than its lease the claim of a waiter has to last, ms. The lease counts from the last sign of life that was
 * answered, since the waiter cannot know when the engine admitted it after that. When the waiter learns of its grant, this much of the
 * lease may be over: a pause, a late timer, the way of the next sign of life, and the difference of the clocks.
 */
export const waiterMargin = (claim: Pick<Claim, 'ttl' | 'placeTtl'>): number =>
  Math.ceil(1.25 * signOfLife(claim)) + 25;
