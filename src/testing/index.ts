export type { Case, Outcome } from './case.ts';
export { conformance } from './conformance.ts';
export type { Need } from './law.ts';
export { laws } from './laws.ts';
export { lose } from './lose.ts';
export { type ManualClock, manualClock } from './manual-clock.ts';
export { type StoreCase, storeLaws } from './store-laws.ts';
export type { Faults, Subject, Timing } from './subject.ts';
