/** What the server sends to the page: JSON, complete each time. Times are ms before the moment of sending; tokens are text. */
import type { As } from '../../src/core/contract/admission.ts';
import type { Finding } from '../../src/core/contract/finding.ts';
import type { KeyState } from '../../src/core/contract/values.ts';

export interface Who {
  readonly label: string;
  readonly as: As;
  readonly token: string;
  /** How long it holds or waits. */
  readonly for: number;
  /**
   * `seen`: somebody saw it begin. `most`: it cannot be longer, since it may contain a wait. `least`: it may be longer, since
   * nobody saw it begin.
   */
  readonly known: 'seen' | 'most' | 'least';
  /** The time until the claim expires unless renewed; null if a session keeps the claim. */
  readonly left: number | null;
}

/** With the address of its trace, where that is known. */
export interface Person extends Who {
  readonly trace: string | null;
}

export interface Row {
  readonly key: string;
  /** The first of its holders. */
  readonly holder: Who | null;
  readonly holders: number;
  readonly waiting: number;
  /** How long the first waiter has waited; null without waiters. */
  readonly wait: number | null;
  /** No process holds the key: its hold only marks that a tick was run. */
  readonly mark: boolean;
}

export interface Group {
  readonly prefix: string;
  readonly keys: number;
  readonly waiting: number;
  readonly wait: number | null;
}

export interface Totals {
  readonly keys: number;
  readonly holders: number;
  readonly waiting: number;
  /** Keys with waiters. */
  readonly contested: number;
  /** Held keys that are too many to be kept. */
  readonly beyond: number;
  readonly longestWait: { readonly key: string; readonly for: number } | null;
  readonly longestHold: { readonly key: string; readonly for: number } | null;
}

export interface Detail {
  readonly key: string;
  readonly holders: readonly Person[];
  readonly waiters: readonly Person[];
  /** The number of all of them: a long queue is cut. */
  readonly holding: number;
  readonly waiting: number;
  /** As in its row. */
  readonly mark: boolean;
  /** What is remembered of the key, but no words; null if nothing is. */
  readonly memo: Memo | null;
  /** What the locks of the server's own process did with it, the latest first; null if it has none. */
  readonly history: readonly Event[] | null;
}

export interface Memo {
  readonly state: KeyState;
  readonly attempts: number;
  readonly token: string | null;
  /** The time since its result was left, and until what is left is gone. */
  readonly since: number | null;
  readonly left: number | null;
}

export interface Event {
  readonly what: Happening;
  readonly key: string;
  /** When it happened, ms since 1970, and how long ago. */
  readonly at: number;
  readonly ago: number;
  /** The new holder; for `left`, the claim that waited. */
  readonly to: string | null;
  /** The label of the hold that ended, how it ended, and how long it was. */
  readonly from: string | null;
  readonly end: End | null;
  readonly held: number | null;
  /** The reason, in words. */
  readonly why: string | null;
}

export interface Span {
  readonly label: string;
  readonly token: string;
  readonly from: number;
  /** Null while it holds. */
  readonly to: number | null;
  readonly end: End | null;
}

export interface Lane {
  readonly key: string;
  readonly spans: readonly Span[];
  readonly waiting: number;
}

interface DeadlockStep {
  readonly process: string;
  readonly label: string;
  readonly key: string;
  readonly held: boolean;
  readonly token: string;
}

/** Claims that wait for each other without an end. */
export interface Deadlock {
  /** A cycle: each waits for the next, and the last for the first. The first one waits. */
  readonly steps: readonly DeadlockStep[];
  /** The hold whose eviction ends the deadlock: the youngest hold in the cycle. */
  readonly victim: DeadlockStep | null;
  /** How many claims the deadlock has in all. */
  readonly claims: number;
}

/** A process that waits or that somebody waits for, or a key. */
export interface GraphNode {
  readonly id: string;
  readonly what: 'process' | 'key';
  readonly name: string;
  /** How many nodes stand between it and one that waits for nobody, or the end of a cycle. */
  readonly layer: number;
}

/** From a process to a key that it waits for, or from a key to a process that holds it. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly for: number;
  /** It is part of a deadlock. */
  readonly stuck: boolean;
}

/** The graph of waits: which process waits for which other one. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** How many processes and keys are not shown. */
  readonly more: number;
}

interface Look {
  readonly state: Looks['state'];
  /** Since the last complete look; null if there was none. */
  readonly age: number | null;
  readonly took: number | null;
  /** Until the next look; null during a look. */
  readonly next: number | null;
  /** From the end of a look to the start of the next. */
  readonly pause: number;
  readonly looked: number | null;
  readonly error: string | null;
  readonly failingFor: number | null;
}

/** All that the page shows for one view. */
export interface Snapshot {
  /** The address of the engine, without a password. */
  readonly engine: string;
  readonly prefix: string;
  readonly mayRelease: boolean;
  readonly look: Look;
  /** Null while nothing is known. */
  readonly totals: Totals | null;
  readonly groups: readonly Group[];
  readonly rows: readonly Row[];
  /** How many lines match in all. */
  readonly found: number;
  readonly events: readonly Event[];
  /** The latest losses, which other events do not push out. */
  readonly losses: readonly Event[];
  /** Null until the engine was asked. */
  readonly findings: readonly Finding[] | null;
  /** Null also while nothing is known of its key. */
  readonly detail: Detail | null;
  readonly lanes: readonly Lane[];
  readonly deadlocks: readonly Deadlock[];
  /** Null unless the view shows it, or there is a deadlock. */
  readonly graph: Graph | null;
  /** How long the page has watched: the time line begins there. */
  readonly watched: number;
}

/** What the page asks to evict. */
export interface ReleaseOrder {
  /** The key of the lock. */
  readonly key: string;
  /** The token of the one hold that is evicted, as text. */
  readonly token: string;
  /** Why, as the user wrote it: at most 500 characters. */
  readonly reason: string;
}

export type ReleaseAnswer = { readonly evicted: boolean } | { readonly error: string };

/** What the engine remembers of memos; `more`: there are others. */
export interface MemoList {
  readonly memos: readonly (Memo & { readonly key: string })[];
  readonly more: boolean;
}

export type ForgetAnswer = { readonly forgotten: boolean } | { readonly error: string };

/**
 * `granted`: a claim holds the key now. `over`: a hold ended, and no other followed. `handed`: both. `left`: a claim stopped
 * waiting. `evicts`: the server's process evicted the holders.
 */
export type Happening = 'granted' | 'over' | 'handed' | 'left' | 'evicts';

/**
 * How a hold ended. `released`: it had time left, so its holder released it, or somebody evicted it. `expired`: its time was
 * over, and the look before was a moment ago. `ended`: one of these, but nobody looked often enough to say which. `lost`: its process says so.
 */
export type End = 'released' | 'expired' | 'ended' | 'evicted' | 'lost';

/** The state of the look at all keys. Times are ms by the clock of this process. */
export interface Looks {
  /**
   * `never`: no look has ended yet. `seen`: the last look was complete. `failing`: it failed. `unable`: this engine cannot list
   * its locks.
   */
  readonly state: 'never' | 'seen' | 'failing' | 'unable';
  /** When the last complete look ended, and how long it took. */
  readonly at?: number;
  readonly took?: number;
  /** When the next look begins; undefined during a look, or if no page is open. */
  readonly next?: number;
  /** How many keys the current look has read. */
  readonly looked?: number;
  /** Why the last look failed, and when the first one failed since the last answer. */
  readonly error?: string;
  readonly failingSince?: number;
}
