import type { LockOptions } from '../../../src/core/contract/options.ts';
import type { Choice } from '../choice.ts';
import { LONGEST_TTL } from '../workload.ts';
import type { Feature } from './features.ts';

const TTLS = [600, 1_500];
/** Of a lease that nobody renews: long enough to see who waits for its end in vain. */
const LONG = 5_000;
const PERMITS = 3;

/** What a request with these features asks for, without its signal and label. */
export function optionsFor(features: readonly Feature[], choice: Choice): LockOptions {
  const has = (feature: Feature): boolean => features.includes(feature);
  const usual = choice.pick([{}, {}, { handOff: false as const }, { handOff: { max: 3, within: 400 } }]);
  return {
    ttl: choice.pick(has('renew: false') ? [600, LONG] : TTLS),
    wait: has('wait: 0') ? 0 : choice.chance(0.75) ? 'forever' : choice.between(50, 1_500),
    ...(has('linger') ? { handOff: { linger: 80, within: 400 } } : usual),
    ...(has('awaitRelease') && { awaitRelease: false }),
    ...(has('detect') && { detect: true }),
    ...(has('minHold') && { minHold: choice.pick([choice.between(20, 400), 550]) }),
    ...(has('maxHold') && { maxHold: choice.pick([200, 700]) }),
    ...(has('delay') && { delay: choice.between(50, 700) }),
    ...(has('renew: false') && { renew: false }),
    ...(has('adaptive') && { adaptive: { cap: LONGEST_TTL } }),
  };
}

/** How many permits there are: callers that differ say so at the same time. */
export const permitsFor = (features: readonly Feature[], choice: Choice): number =>
  features.includes('permits') ? choice.pick([2, 4]) : PERMITS;

/**
 * How long the work takes, ms: sometimes longer than any lease that is not renewed, or until just after a third of the lease, when a
 * renewal is on its way.
 */
export function workFor(features: readonly Feature[], ttl: number, choice: Choice): number {
  const ends = features.some((feature) => ['maxHold', 'renew: false', 'delay', 'adaptive', 'forced'].includes(feature));
  if (choice.chance(ends ? 0.4 : 0.05))
    return choice.pick([choice.between(600, 2_600), choice.between(600, 2_600), LONG + 500]);
  if (choice.chance(features.includes('minHold') ? 0.3 : 0.1)) return ttl / 3 + choice.between(-15, 5);
  return choice.chance(0.3) ? choice.pick([0, 1]) : choice.between(0, choice.pick([60, 60, 400]));
}
