/** The face of the core: all that the rest of the library may use of it. */

export {
  ALL_UNITS,
  ArrivalQueue,
  admitted,
  asOf,
  type Demand,
  EXCLUSIVE,
  isExclusive,
  SHARED,
  Tally,
  WRITER,
} from './contract/admission.ts';
export { addUser, ofAllCopies, removeUser } from './contract/all-copies.ts';
export type {
  Attempt,
  Backend,
  Claim,
  Grant,
  Handle,
  Refinements,
  Refusal,
  Release,
  Renewal,
  Run,
  Wake,
} from './contract/backend.ts';
export { type Cancel, type Clock, Context, type EngineClock, inNoContext, systemClock } from './contract/clock.ts';
export {
  type Duration,
  duration,
  inWords,
  MAX_DURATION_MS,
  milliseconds,
  type Wait,
  waitIn,
} from './contract/duration.ts';
export {
  counted,
  inMs,
  invalid,
  isLockError,
  LockError,
  type LockErrorCode,
  quoted,
  reasonOf,
  shown,
} from './contract/errors.ts';
export {
  channels,
  EVENT_VERSION,
  type ForcedEvent,
  type LockEvent,
  type LockType,
  nextNumber,
} from './contract/events.ts';
export { leastOf, mostOf } from './contract/extremes.ts';
export type { Finding } from './contract/finding.ts';
export {
  DEFAULT_LABEL,
  DEFAULT_TTL_MS,
  LayeredOptions,
  LOCK_OPTIONS,
  type SharedOption,
  sharedWith,
  spin,
  UNSHARED_HOLD,
} from './contract/option-table.ts';
export {
  type Adaptive,
  abortSignal,
  allOf,
  checkBackend,
  checkGiven,
  checkKey,
  checkListable,
  checkNames,
  checkPrefix,
  checkWaitersListed,
  flag,
  type HandOff,
  type LockOptions,
  MAX_KEY_BYTES,
  namesOf,
  type OptionNames,
  oneOf,
  type Spin,
  unsupported,
  whole,
} from './contract/options.ts';
export type { Enclosing, Origin } from './contract/origin.ts';
export { callListener, KeyedSerializer, listOf, onAbort, onceFor, sleep, withLimit } from './contract/promises.ts';
export { RecentKeys } from './contract/recent-keys.ts';
export {
  type RegisterEntry,
  type RegisterStore,
  readEntry,
  type WriteOutcome,
  type Written,
  writeOutcome,
} from './contract/register-store.ts';
export { type Inquiry, leaseBounds, placeTtlOf, type Terms, withWaitUntil } from './contract/terms.ts';
export {
  type Hints,
  type Listing,
  MAX_PLACE_TTL_MS,
  PLACE_TTL_MS,
  type QueueEntry,
  type Traits,
} from './contract/traits.ts';
export {
  isAnswer,
  type KeyState,
  MIN_VALUE_TTL_MS,
  type NewValue,
  NO_MARK,
  type StoredValue,
  type StoreOutcome,
  type ValueCondition,
  type ValueRecord,
  type ValueState,
  type Values,
} from './contract/values.ts';
export { printable, visible } from './contract/visible.ts';
export { CallTimeouts } from './engine/call-timeouts.ts';
export { Activity, CALL_TIMEOUT_MS, Engine, promiseOf, renewalOf } from './engine/engine.ts';
export { dispose, Sleeper } from './engine/listener.ts';
export { StepLimit } from './engine/listing.ts';
export { AdaptiveHistory } from './queue/adaptive-history.ts';
export { type ForceOptions, forceRelease } from './queue/eviction.ts';
export { Frame } from './queue/frame.ts';
export {
  type AnyLease,
  HeldLease,
  heldLease,
  type Lease,
  type LeaseRecord,
  type SharedLease,
} from './queue/held-lease.ts';
export { Hold } from './queue/hold.ts';
export { type Cover, deadlineOf, passedFor, type Schedule, type StandIn, sentLater } from './queue/hold-timing.ts';
export type { LocalEntry } from './queue/key-queue.ts';
export { backOff, MAX_OUTAGE_MS, UNANSWERED } from './queue/pause.ts';
export type { DeadlockWatch, WatchedWait } from './queue/request-events.ts';
export { LockRuntime } from './queue/runtime.ts';
