/** What an engine is written with: `Backend` is the contract, and the rest is what it asks for and gives. */
export { ALL_UNITS, admitted, isExclusive, type Units } from './core/contract/admission.ts';
export type {
  Attempt,
  Backend,
  Claim,
  Finding,
  Grant,
  Handle,
  Hints,
  Listing,
  NewValue,
  QueueEntry,
  Refinements,
  Refusal,
  Release,
  Renewal,
  StoredValue,
  Traits,
  ValueCondition,
  ValueRecord,
  Values,
  Wake,
} from './core/contract/backend.ts';
export { PLACE_TTL_MS } from './core/contract/backend.ts';
export { type Clock, systemClock } from './core/contract/clock.ts';
export { placeTtlOf } from './core/contract/lengths.ts';
