import type { LockError } from '../contract/errors.ts';
import type { LockEvent } from '../contract/events.ts';
import type { Circumstances, ProcessName } from '../contract/origin.ts';
import type { Engine } from '../engine/engine.ts';
import type { Watchdog } from './watchdog.ts';

/** The parts that the lines of one `Locks` share. */
export interface LineContext {
  /** The number of the `Locks`; events have it as `locks`. */
  readonly number: number;
  readonly engine: Engine;
  readonly watchdog: Watchdog;
  /** The name of this process in the labels of its claims. */
  readonly name: ProcessName;
  /** Gives the span that a request belongs to, 55 characters. It is asked once a request, in the context of its caller. */
  readonly traceparent: ((request: { event(): LockEvent }) => string | undefined) | undefined;
  /** Looks whether waits can ever end, for those that ask for it. */
  readonly deadlocks: DeadlockWatch | undefined;
}

/** A wait, as the search for deadlocks sees it. */
export interface WatchedWait {
  /** The number of its claim in this process, once it has one. */
  readonly number: number | undefined;
  readonly state: 'new' | 'waiting' | 'settled';
  /** Settles when the wait is over. */
  readonly outcome: Promise<unknown>;
  circumstances(): Circumstances | undefined;
  /** Tells listeners about the wait. */
  readonly events: { tell(name: 'detectionFailed', token: undefined, more: Partial<LockEvent>): void };
}

/** Looks whether waits can ever end. */
export interface DeadlockWatch {
  /** @param giveUp ends the wait with this error */
  watch(key: string, wait: WatchedWait, giveUp: (error: LockError) => void): void;
  close(): void;
}
