/** What the server sends to the page: JSON, complete each time. Times are ms, counted from the moment of sending; tokens are text. */
import type { As } from '../../src/core/contract/admission.ts';
import type { Finding } from '../../src/core/contract/finding.ts';
import type { KeyState } from '../../src/core/contract/values.ts';

export interface Who {
  readonly label: string;
  readonly as: As;
  readonly token: string;
  /** How long the claim holds or waits. */
  readonly for: number;
  /**
   * `seen`: `for` is exact. `most`: it may be shorter, because it may contain a wait. `least`: it may be longer, because no look
   * saw its beginning.
   */
  readonly known: 'seen' | 'most' | 'least';
  /** The time until the claim expires if nobody renews it; null if a session keeps the claim. */
  readonly left: number | null;
}

/** A claim with the address of its trace; null if it has none. */
export interface Person extends Who {
  readonly trace: string | null;
}

export interface Row {
  readonly key: string;
  /** The first holder of the key. */
  readonly holder: Who | null;
  readonly holders: number;
  readonly waiting: number;
  /** How long the first waiter has waited; null without waiters. */
  readonly wait: number | null;
  /** True if no process holds the key: the hold only marks that a tick was run. */
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
  /** Held keys that are only counted, because there are too many. */
  readonly beyond: number;
  readonly longestWait: { readonly key: string; readonly for: number } | null;
  readonly longestHold: { readonly key: string; readonly for: number } | null;
}

export interface Detail {
  readonly key: string;
  readonly holders: readonly Person[];
  readonly waiters: readonly Person[];
  /** The numbers of all holders and waiters: long lists are cut. */
  readonly holding: number;
  readonly waiting: number;
  /** As in `Row`. */
  readonly mark: boolean;
  /** What the engine remembers of the key, without the value; null if nothing. */
  readonly memo: Memo | null;
  /** What the locks of the server's own process did with the key, the latest first; null if it has no locks. */
  readonly history: readonly Event[] | null;
}

export interface Memo {
  readonly state: KeyState;
  readonly attempts: number;
  readonly token: string | null;
  /** How long ago the value was stored, and how long it lasts. */
  readonly since: number | null;
  readonly left: number | null;
}

export interface Event {
  readonly what: Happening;
  readonly key: string;
  /** When the event happened, ms since 1970, and how long ago. */
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
  /** Null while the hold goes on. */
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
  /** A cycle: each step waits for the next, and the last for the first. The first step is a waiter. */
  readonly steps: readonly DeadlockStep[];
  /** The hold whose eviction ends the deadlock: the youngest hold in the cycle. */
  readonly victim: DeadlockStep | null;
  /** How many claims the deadlock has in all. */
  readonly claims: number;
}

/** A process that waits, a process that another one waits for, or a key. */
export interface GraphNode {
  readonly id: string;
  readonly what: 'process' | 'key';
  readonly name: string;
  /** The length of the longest path from this node, without a repetition; 0 for a node that waits for nobody. */
  readonly layer: number;
}

/** An arrow from a process to a key that the process waits for, or from a key to a process that holds the key. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly for: number;
  /** Whether the edge is part of a deadlock. */
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
  /** The time since the last complete look; null if there was none. */
  readonly age: number | null;
  readonly took: number | null;
  /** The time until the next look; null during a look. */
  readonly next: number | null;
  /** The time from the end of a look to the start of the next. */
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
  /** How many keys match in all. */
  readonly found: number;
  readonly events: readonly Event[];
  /** The latest losses. Unlike in `events`, other events do not push them out. */
  readonly losses: readonly Event[];
  /** Null until the engine was checked. */
  readonly findings: readonly Finding[] | null;
  /** Null if no key is open, or while nothing is known of that key. */
  readonly detail: Detail | null;
  readonly lanes: readonly Lane[];
  readonly deadlocks: readonly Deadlock[];
  /** Null unless the view shows the graph, or there is a deadlock. */
  readonly graph: Graph | null;
  /** How long the server has watched: the time line begins then. */
  readonly watched: number;
}

/** A request of the page to evict a holder. */
export interface ReleaseOrder {
  /** The key of the lock. */
  readonly key: string;
  /** The token of the one hold that is evicted, as text. */
  readonly token: string;
  /** Why, as the user wrote it: at most 500 characters. */
  readonly reason: string;
}

export type ReleaseAnswer = { readonly evicted: boolean } | { readonly error: string };

/** What the engine remembers of memos; `more`: there may be more memos. */
export interface MemoList {
  readonly memos: readonly (Memo & { readonly key: string })[];
  readonly more: boolean;
}

export type ForgetAnswer = { readonly forgotten: boolean } | { readonly error: string };

/**
 * `granted`: a claim got the key. `over`: a hold ended, and no other followed. `handed`: one hold ended, and another followed.
 * `left`: a claim stopped waiting. `evicts`: the server's process evicted the holders.
 */
export type Happening = 'granted' | 'over' | 'handed' | 'left' | 'evicts';

/**
 * How a hold ended. `released`: it had time left, so it was released, or another process evicted it. `expired`: its time was over,
 * and the look before was a moment ago. `ended`: one of these, but the looks were too far apart to say which. `lost`: its process
 * says so.
 */
export type End = 'released' | 'expired' | 'ended' | 'evicted' | 'lost';

/** The state of the look at all keys. Times are ms by the clock of this process. */
export interface Looks {
  /**
   * `never`: no look has ended yet. `seen`: the last look was complete. `failing`: the last look failed. `unable`: this engine
   * cannot list its locks.
   */
  readonly state: 'never' | 'seen' | 'failing' | 'unable';
  /** When the last complete look ended, and how long it took. */
  readonly at?: number;
  readonly took?: number;
  /** When the next look begins; undefined during a look, or if no page is open. */
  readonly next?: number;
  /** How many keys the current look has read. */
  readonly looked?: number;
  /** Why the last look failed, and when the first of the failures in a row was. */
  readonly error?: string;
  readonly failingSince?: number;
}
