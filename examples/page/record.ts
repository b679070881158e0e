import type { Happening } from '../rush/happening.ts';

export type SceneName = 'orders' | 'sale' | 'paused';

export const STRATEGIES = {
  orders: ['url', 'url-spin', 'in-process'],
  sale: ['segments-3', 'one-lock', 'reserve-3', 'in-process'],
  paused: ['token'],
} as const satisfies Record<SceneName, readonly string[]>;

/** What is asked of the server. */
export interface Wish {
  readonly scene: SceneName;
  readonly strategy: string;
}

export interface Person {
  readonly who: string;
  /** From 0. */
  readonly process: number;
  /** The order that a driver taps on. */
  readonly thing?: number;
}

/** `at`: ms since a moment before the first of its side. */
export interface Noted extends Happening {
  readonly process: number;
}

/** One rush as it happened. */
export interface Side {
  readonly strategy: string;
  /** The orders, or the segments: the number of each, and how many units it has. */
  readonly things: readonly { readonly thing: number; readonly units: number }[];
  readonly people: readonly Person[];
  /** In the order of their times. */
  readonly happenings: readonly Noted[];
  /** What the table says in the end: whom the row of each order names. Of a sale nothing. */
  readonly owners: Readonly<Record<number, string>>;
  /** Rows that tell somebody: it is yours. */
  readonly written: number;
}

/** The same rush twice. */
export interface Round {
  readonly scene: SceneName;
  /** The scheme of the URL: `file`, `redis`… */
  readonly engine: string;
  readonly processes: number;
  readonly without: Side;
  readonly with: Side;
}
