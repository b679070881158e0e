export {
  type Adaptive,
  type AnyLease,
  type Backend,
  type Clock,
  type Duration,
  duration,
  type Enclosing,
  type Finding,
  type ForcedEvent,
  type ForceOptions,
  type HandOff,
  isLockError,
  type Lease,
  type LeaseRecord,
  type Listing,
  LockError,
  type LockErrorCode,
  type LockEvent,
  type LockOptions,
  type LockType,
  type Origin,
  type QueueEntry,
  type SharedLease,
  type Spin,
  type Wait,
} from './core/index.ts';
export type { LeaderEvent, TermEnd } from './leading/events.ts';
export type { CampaignOptions, Leader, ObserveOptions } from './leading/leader.ts';
export type { Incumbent } from './leading/observer.ts';
export type { LeaderOptions } from './leading/options.ts';
export type { Term, TermWork } from './leading/term.ts';
export { createLocks, type Locks, type LocksDefaults } from './locks.ts';
export type {
  Memo,
  MemoOptions,
  MemoResult,
  MemoRun,
  MemoState,
  MemoWait,
  MemoWork,
  Seal,
} from './memo/memo.ts';
export type { TicksMissedEvent } from './once/events.ts';
export type { OnceOptions, Overlap } from './once/options.ts';
export type { NotRun, OnceResult, TickRun, TickWork } from './once/run.ts';
export type { Tick } from './once/tick.ts';
export type { Lock, Mutex } from './primitives/lock.ts';
export type { MultiLease } from './primitives/multi-lease.ts';
export type { MultiLock } from './primitives/multi-lock.ts';
export type { RwLock } from './primitives/rw-lock.ts';
export type { PermitOptions, Semaphore, SemaphoreOptions } from './primitives/semaphore.ts';
export type { WaitsClaim } from './waits/claims.ts';
export type { Deadlock } from './waits/deadlocks.ts';
export type { WaitsEdge } from './waits/edges.ts';
export type { Waits, WaitsOptions } from './waits/waits.ts';
