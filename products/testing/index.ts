export { type AnotherHolder, heldByAnother } from './another.ts';
export type { Case, Need, Outcome } from './case.ts';
export { conformance, laws } from './conformance.ts';
export { type FaultyBackend, faulty } from './faulty.ts';
export { lose } from './lose.ts';
export { type ManualClock, manualClock } from './manual-clock.ts';
export type { Faults, Subject, Timing } from './scene.ts';
export { type StoreCase, storeLaws } from './store-laws.ts';
