import type { Demand } from '../../src/core/index.ts';

/**
 * What happened in a run, as the referee knows it. `at` is ms since the start by the monotonic clock of the machine, which all
 * its processes share. `op` names one operation: a request for one key, and the hold that follows. `by` is the number of a process,
 * which keeps it after a restart.
 */
export type Event = { readonly at: number } & (ProcessEvent | RefereeEvent);

/**
 * What a process reports about itself. A process never reports a hold for a time at which it may not have held the lock.
 */
export type ProcessEvent =
  | ({
      readonly what: 'asked';
      readonly op: string;
      readonly by: number;
      readonly key: string;
      readonly renewed?: boolean;
    } & Demand)
  /** A check between `before` and `at` found the lock held. `remaining`, ms, is null if no time ends the hold. */
  | {
      readonly what: 'entered';
      readonly op: string;
      readonly before: number;
      readonly remaining: number | null;
      readonly token?: string;
    }
  /** A check after `at` found the lock held. */
  | { readonly what: 'held'; readonly op: string; readonly remaining: number | null }
  /** A check before `at` found the lock lost. */
  | { readonly what: 'lost'; readonly op: string }
  /** A check after `at` found the lock held, and then the process released it. */
  | { readonly what: 'left'; readonly op: string }
  /** The engine answered the release. */
  | { readonly what: 'freed'; readonly op: string }
  /** A timer of the process, or an answer to the referee, came so many ms too late. */
  | { readonly what: 'late'; readonly ms: number }
  /** The operation ended without a hold. `why`: the error, if the engine could not be asked. */
  | { readonly what: 'refused'; readonly op: string; readonly code: string; readonly why?: string };

/** Timers that are late by less than this, ms, are not reported. */
export const MIN_DELAY_MS = 10;

/** What the referee reports. */
export type RefereeEvent =
  /** The first (`claimed`) or last (`wrote`) write of a holder to the register. `accepted`: its token allowed the write. */
  | { readonly what: 'claimed' | 'wrote'; readonly op: string; readonly accepted: boolean }
  /** A signal was sent to the process, just after `at`. */
  | { readonly what: 'killed' | 'stopped' | 'continued'; readonly by: number }
  /** The process ended by itself. */
  | { readonly what: 'crashed'; readonly by: number; readonly how: string }
  /** The process did not end when it was asked to, although the engine answered. */
  | { readonly what: 'hung'; readonly by: number }
  /**
   * A fault is active from now until the event `over`. `by`: the process that was hit, or whose connections were hit; undefined if no
   * planned fault caused it.
   */
  | { readonly what: 'disturbed'; readonly id: number; readonly kind: Disturbance; readonly by?: number }
  /** `effective`: the fault hit a holder, a waiter, or bytes on their way. */
  | { readonly what: 'over'; readonly id: number; readonly effective: boolean }
  /** All processes are gone and every lease is over, but a hold is still there. */
  | { readonly what: 'remains'; readonly key: string; readonly label: string };

/** Faults of processes. */
export const PROCESS_FAULTS = ['killed', 'stopped', 'blocked', 'starved'] as const;
/** Faults of connections. */
export const LINK_FAULTS = [
  'delayed',
  'stalled',
  'dripped',
  'cut',
  'cut before the request',
  'cut before the reply',
  'cut after the reply',
  'halved',
] as const;
/** Faults of a network in which each process and each server has its own host: packets are dropped without an error. */
export const NETWORK_FAULTS = [
  'partitioned',
  'partitioned in three',
  'cut one way',
  'losing packets',
  'vanished',
  'forgotten by NAT',
  'address moved',
] as const;
export type LinkFault = (typeof LINK_FAULTS)[number];
export type NetworkFault = (typeof NETWORK_FAULTS)[number];
export type FaultKind = (typeof PROCESS_FAULTS)[number] | LinkFault | NetworkFault;
/** A fault, or a disturbance without one: the engine did not answer the referee, or the machine did not let the referee run. */
export type Disturbance = FaultKind | 'no answer' | 'slow machine';

/** A lock that all processes want. */
export interface TestLock {
  readonly kind: 'mutex' | 'rwLock' | 'semaphore';
  readonly key: string;
  readonly permits: number;
  /** The part of the holds that may be longer than a lease without renewal: 0 to 1. */
  readonly longPart: number;
  /** Two processes take it again and again, without a pause. */
  readonly busy?: boolean;
}

/** Hosts of processes and servers, and the network between them. */
export interface Network {
  /** The command that runs another command on the host of a process. */
  readonly onHost: (by: number) => readonly string[];
  /**
   * Gives a function that applies a fault until the end of `pause`, and returns whether a connection or a packet was lost. Undefined
   * while another fault lasts, or if there is no fault of this kind.
   */
  readonly fault: (kind: NetworkFault, by: number, choice: number) => Strike | undefined;
}

/** @param pause waits for `ms`; by default for as long as the fault lasts */
export type Strike = (pause: (ms?: number) => Promise<void>) => Promise<boolean>;

/** What all processes do. */
export interface Job {
  readonly url: string;
  readonly testLocks: readonly TestLock[];
  /** The ttl of holds, ms. */
  readonly ttl: number;
  readonly label: string;
  readonly seed: number;
  /** Whether connections lead through proxies. */
  readonly links: boolean;
  /** How many callers of each process take one lock after the other without a pause. */
  readonly busy: number;
  /** Who renews holds while the loop is blocked. Default: nobody. */
  readonly renewal?: 'worker' | undefined;
}

/** What one process does. */
export interface Task extends Job {
  /** The start of the run by `process.hrtime`, ns, as text. All times count from it. */
  readonly origin: string;
  /** The prefix of the names of its operations. */
  readonly name: string;
  readonly by: number;
}

export type ToWorker =
  | { readonly task: Task }
  /** An answer to the question `ask`: a port, or 1 if the register accepted, else 0. */
  | { readonly answer: number; readonly value: number }
  /** Block the event loop for so many ms, without a break or in `pieces` with very short breaks. */
  | { readonly block: number; readonly pieces: boolean }
  /** These processes are stopped. If the referee dies, the others continue them. */
  | { readonly stopped: readonly number[] }
  | { readonly end: true };

export type Question =
  | { readonly route: { readonly host: string; readonly port: number } }
  /** The first (`claim`) or last (`write`) write of an operation to the register. */
  | { readonly claim: string }
  | { readonly write: string };

export type FromWorker =
  | { readonly ready: true }
  | { readonly failed: string }
  /** What happened in the process since its last message, and perhaps a question. */
  | {
      readonly events: readonly (ProcessEvent & { readonly at: number })[];
      readonly asked?: { readonly ask: number; readonly question: Question };
    }
  /** How many locks the process held when its loop was blocked. */
  | { readonly held: number };
