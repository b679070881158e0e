/** What the server tells the page: JSON, complete each time. Times are ms before the moment it was sent; tickets are text. */
import type { As } from '../core/admission.ts';
import type { Finding } from '../core/traits.ts';
import type { End, Happening } from './happening.ts';
import type { Looks } from './looks.ts';

/** One that holds or waits. */
export interface Who {
  readonly label: string;
  readonly as: As;
  readonly ticket: string;
  /** How long it holds or waits. */
  readonly for: number;
  /** What `for` is: it was seen to begin; it cannot be longer, since a wait may be in it; or it may be longer, nobody saw it begin. */
  readonly known: 'seen' | 'most' | 'least';
  /** Until it lapses unless renewed; null where a session carries it. */
  readonly left: number | null;
}

export interface Row {
  readonly key: string;
  /** The first of its holders. */
  readonly holder: Who | null;
  readonly holders: number;
  readonly waiting: number;
  /** How long the one has waited that waits longest; null where nobody does. */
  readonly wait: number | null;
}

/** Keys that begin alike. */
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
  /** Keys that somebody waits for. */
  readonly contested: number;
  /** Keys that are held, and are too many to be kept here. */
  readonly beyond: number;
  readonly longestWait: { readonly key: string; readonly for: number } | null;
  readonly longestHold: { readonly key: string; readonly for: number } | null;
}

/** The line of a key that is looked at closely. */
export interface Detail {
  readonly key: string;
  readonly holders: readonly Who[];
  readonly waiters: readonly Who[];
  /** All of them: of a long line the first are told. */
  readonly holding: number;
  readonly waiting: number;
}

/** What happened lately. */
export interface Event {
  readonly what: Happening;
  readonly key: string;
  readonly ago: number;
  /** Who has it now; of `left`, who waited. */
  readonly to: string | null;
  readonly token: string | null;
  /** Whose hold ended, how, and how long it was. */
  readonly from: string | null;
  readonly end: End | null;
  readonly held: number | null;
}

/** One hold on a line over time. */
export interface Span {
  readonly label: string;
  readonly ticket: string;
  readonly from: number;
  /** Null while it holds. */
  readonly to: number | null;
  readonly end: End | null;
}

/** Who held one key when. */
export interface Lane {
  readonly key: string;
  readonly spans: readonly Span[];
  readonly waiting: number;
}

/** Claims that wait for each other without an end. */
export interface Deadlock {
  /** A way round: each waits for the next, the last for the first. The first one waits. */
  readonly steps: readonly {
    readonly process: string;
    readonly label: string;
    readonly key: string;
    readonly held: boolean;
    readonly ticket: string;
  }[];
  /** How many there are in all. */
  readonly claims: number;
}

/** A process that waits or is waited for, or the key that it is about. */
export interface GraphNode {
  readonly id: string;
  readonly what: 'process' | 'key';
  readonly name: string;
  /** How many stand between it and one that waits for nobody, or the end of a circle. */
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

/** Who waits for whom. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Processes and keys that are too many to be told of. */
  readonly more: number;
}

export interface Look {
  readonly state: Looks['state'];
  /** Since the last complete look; null where there was none. */
  readonly age: number | null;
  readonly took: number | null;
  /** Until the next one; null while one is under way. */
  readonly next: number | null;
  /** From the end of one to the beginning of the next. */
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
  readonly totals: Totals;
  readonly groups: readonly Group[];
  readonly rows: readonly Row[];
  /** How many rows there are beyond those that are told. */
  readonly found: number;
  readonly events: readonly Event[];
  /** Null while the engine has not been asked. */
  readonly findings: readonly Finding[] | null;
  readonly detail: Detail | null;
  readonly lanes: readonly Lane[];
  readonly deadlocks: readonly Deadlock[];
  /** Null unless it was asked for, or there is a deadlock. */
  readonly graph: Graph | null;
  /** How long anything was watched: lines over time begin there. */
  readonly watched: number;
}

/** What the page asks for to evict a holder. */
export interface ReleaseOrder {
  readonly key: string;
  readonly ticket: string;
  readonly reason: string;
}

/** What came of it. */
export type ReleaseAnswer = { readonly evicted: boolean } | { readonly error: string };
