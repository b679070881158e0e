import type { Demand } from '../../src/core/index.ts';

/**
 * What happened in a run, as the referee knows it. `at` is ms since the start by the monotonic clock of the machine, which all
 * its processes share. `op` names one operation: a request for one key, and the hold that follows. `by` is the number of a process; a restarted
 * one keeps it.
 */
export type Event = { readonly at: number } & (ProcessEvent | RefereeEvent);

/**
 * What a process reports about itself. Each time errs on the safe side: a process never
 * reports a hold for a time at which it may not have held the lock.
 */
export type ProcessEvent =
  | ({
      readonly what: 'asked';
      readonly op: string;
      readonly by: number;
      readonly key: string;
      readonly renewed?: boolean;
    } & Demand)
  /** The process checked between `before` and `at`, and held the lock. `remaining` is null if no time ends the hold. */
  | {
      readonly what: 'entered';
      readonly op: string;
      readonly before: number;
      readonly remaining: number | null;
      readonly token?: string;
    }
  /** The process checked after `at`, and held the lock. */
  | { readonly what: 'held'; readonly op: string; readonly remaining: number | null }
  /** The process checked before `at`, and no longer held the lock. */
  | { readonly what: 'lost'; readonly op: string }
  /** The process checked after `at`, held the lock, and then released it. */
  | { readonly what: 'left'; readonly op: string }
  /** The release had an answer. */
  | { readonly what: 'freed'; readonly op: string }
  /** A timer of the process came so many ms too late, or an answer to the referee did. */
  | { readonly what: 'late'; readonly ms: number }
  /** The operation ended without a hold. `why`: what was wrong where the engine could not be asked. */
  | { readonly what: 'refused'; readonly op: string; readonly code: string; readonly why?: string };

/** A timer that is late by less than this says nothing about the machine. */
export const MIN_DELAY_MS = 10;

/** What the referee sees. */
export type RefereeEvent =
  /** The holder wrote to the register, for the first time or the last. `accepted`: its token allowed the write. */
  | { readonly what: 'claimed' | 'wrote'; readonly op: string; readonly accepted: boolean }
  /** The time is the one before the signal was sent. */
  | { readonly what: 'killed' | 'stopped' | 'continued'; readonly by: number }
  /** The process ended by itself. */
  | { readonly what: 'crashed'; readonly by: number; readonly how: string }
  /**
   * A fault is active from now until it is `over`. `by`: the process that was hit, or whose connections were; undefined if the referee itself
   * saw the trouble.
   */
  | { readonly what: 'disturbed'; readonly id: number; readonly kind: Disturbance; readonly by?: number }
  /** `effective`: the fault hit a holder, a waiter, or bytes on their way. */
  | { readonly what: 'over'; readonly id: number; readonly effective: boolean }
  /** All processes are gone and every lease is over, and somebody still holds. */
  | { readonly what: 'remains'; readonly key: string; readonly label: string };

/** Faults of processes… */
export const PROCESS_FAULTS = ['killed', 'stopped', 'blocked', 'starved'] as const;
/** …and of their connections. */
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
/** …and of the network, where each process and each server has a host of its own: packets are dropped without a word. */
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
/** A disturbance that no planned fault caused: the engine did not answer the referee, or the machine did not let it run. */
export type Disturbance = FaultKind | 'no answer' | 'slow machine';

/** A lock that all processes want. */
export interface TestLock {
  readonly kind: 'mutex' | 'rwLock' | 'semaphore';
  readonly key: string;
  readonly permits: number;
  /** The part of its holds that are longer than a lease without renewal: 0 to 1. */
  readonly longPart: number;
  /** Two processes take it again and again, without a pause. */
  readonly busy?: boolean;
}

/** Hosts of processes and servers, and the network between them. */
export interface Network {
  /** The command that runs another one on the host of a process. */
  readonly onHost: (by: number) => readonly string[];
  /**
   * Gives a fault of the network, which begins when it is called, and ends after `pause`. It returns whether a connection or a packet was lost.
   * Undefined while another fault lasts, and where there is none of this kind.
   */
  readonly fault: (kind: NetworkFault, by: number, choice: number) => Strike | undefined;
}

/** @param pause by default it is as long as the fault lasts */
export type Strike = (pause: (ms?: number) => Promise<void>) => Promise<boolean>;

/** What all processes do. */
export interface Job {
  readonly url: string;
  readonly testLocks: readonly TestLock[];
  /** ms */
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
  /** An answer to `ask`: a port, or what the register holds. */
  | { readonly answer: number; readonly value: number }
  /** Block the event loop for so many ms: at once, or in pieces between which little else can run. */
  | { readonly block: number; readonly pieces: boolean }
  /** These processes are stopped. If the referee dies, the others continue them. */
  | { readonly stopped: readonly number[] }
  | { readonly end: true };

export type Question =
  | { readonly route: { readonly host: string; readonly port: number } }
  /** The first write of a holder to the register, or its last. */
  | { readonly claim: string }
  | { readonly write: string };

export type FromWorker =
  | { readonly ready: true }
  | { readonly failed: string }
  /** What happened to the process since its last message, and then a question, if it has one. */
  | {
      readonly events: readonly (ProcessEvent & { readonly at: number })[];
      readonly asked?: { readonly ask: number; readonly question: Question };
    }
  /** How many locks it held when its loop was blocked. */
  | { readonly held: number };
