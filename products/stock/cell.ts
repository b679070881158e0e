/** A segment or the reserve: a place that holds units. Every step changes one cell, atomically. */
export interface Cell {
  /** The epoch of the layout. A step with another one comes from a process with an old layout, which must read the new one. */
  readonly epoch: number;
  readonly free: number;
  readonly reserved: number;
  readonly sold: number;
  /** All units that ever were put in from outside (`put`), moved in from other cells (`in`), or moved out to them (`out`). */
  readonly put: number;
  readonly in: number;
  readonly out: number;
  /** Raised only when units are put in, moved or given back. If two reads find the same value, no unit came between them. */
  readonly generation: number;
  /** The highest fencing token seen, as digits; '' before the first. */
  readonly fence: string;
  /** The number of the last move out of this cell. */
  readonly seq: number;
  /** The journal: moves out of this cell that are not cleared yet, by target cell. At most one per target. */
  readonly moves: Readonly<Record<string, Move>>;
  /** By source cell: the number of the last move that arrived. Moves up to this number have arrived. */
  readonly seen: Readonly<Record<string, number>>;
}

export interface Move {
  readonly seq: number;
  readonly units: number;
}

/** `put`: units from outside. They are written down so that a repeated restock counts once. */
export type Status = 'reserved' | 'sold' | 'cancelled' | 'expired' | 'put';

/** The state of one request. It is kept as long as the product, because a request may be repeated at any time. */
export interface Entry {
  readonly id: string;
  /** '' if the order names no buyer. */
  readonly buyer: string;
  readonly units: number;
  readonly status: Status;
  /** When the reservation runs out, ms by the engine's clock; 0 if nothing is reserved. */
  readonly until: number;
}

export const EMPTY: Cell = {
  epoch: 0,
  free: 0,
  reserved: 0,
  sold: 0,
  put: 0,
  in: 0,
  out: 0,
  generation: 0,
  fence: '',
  seq: 0,
  moves: {},
  seen: {},
};

/** The number of the reserve, which is a cell like the others. Segments count from 0. */
export const RESERVE = -1;

/** Whether the counts of a cell fit together. They must fit at every moment, also while units move between other cells. */
export const isBalanced = ({ put, in: moved, out, free, reserved, sold }: Cell): boolean =>
  put + moved - out === free + reserved + sold && free >= 0 && reserved >= 0;

/** The steps on a cell. Every step except `send` may be repeated with the same values. */
export type Step =
  /** Makes the cell if it is missing, and raises its epoch. */
  | { readonly op: 'open'; readonly epoch: number }
  /** Puts in units from outside. */
  | { readonly op: 'put'; readonly epoch: number; readonly id: string; readonly units: number }
  | Take
  | { readonly op: 'settle'; readonly id: string; readonly to: 'sold' | 'cancelled'; readonly token: string }
  /** Reads a request, and how many units the buyer has in this cell. */
  | { readonly op: 'find'; readonly id: string; readonly buyer: string }
  /** Moves up to `units` free units of this cell into the journal, unless a move to the same target is there. */
  | { readonly op: 'send'; readonly to: number; readonly units: number }
  | { readonly op: 'receive'; readonly from: number; readonly seq: number; readonly units: number }
  /** Removes a move from the journal, because it has arrived. */
  | { readonly op: 'clear'; readonly to: number; readonly seq: number }
  | { readonly op: 'look' }
  /** For audits: adds up a portion of the requests, from the first one or from the `next` of the last portion. */
  | { readonly op: 'tally'; readonly from?: string };

export interface Take {
  readonly op: 'take';
  readonly epoch: number;
  readonly id: string;
  readonly buyer: string;
  readonly units: number;
  /** ms until the units come back by themselves; 0: sold at once. */
  readonly ttl: number;
  /** The most that a buyer may have; 0: no limit. */
  readonly limit: number;
  /** How many units the buyer has in other cells. */
  readonly already: number;
  /** Fencing token as digits; '' without a lock. */
  readonly token: string;
}

export interface Reply {
  /**
   * `done`; or the status that the request has already; or why the step was refused: a `stale` epoch, a `fenced` token, a `reused` id,
   * above the `limit`, too few units (`empty`), an `unknown` request, a `busy` move, a `missing` cell.
   */
  readonly is: 'done' | Status | 'stale' | 'fenced' | 'reused' | 'limit' | 'empty' | 'unknown' | 'busy' | 'missing';
  /** The units of the request, the buyer, and when the reservation runs out, ms. */
  readonly units?: number;
  readonly buyer?: string;
  readonly until?: number;
  /** The time by the engine's clock. It comes with `until`. */
  readonly now?: number;
  /** Units the buyer has in this cell. */
  readonly bought?: number;
  /** The number of the move. */
  readonly seq?: number;
  readonly cell?: Cell;
  /** Sums of units in a portion of requests. */
  readonly reserved?: number;
  readonly sold?: number;
  /** Where the next portion begins; undefined after the last portion. */
  readonly next?: string;
  /** How many requests the portion has, and how many the cell has. Only from stores that may show a request twice. */
  readonly counted?: number;
  readonly requests?: number;
}

/** What the steps name: a store reads only these requests and buyers. */
export function readsOf(steps: readonly Step[]): {
  ids: string[];
  buyers: string[];
  opens: boolean;
  tally: (Step & { op: 'tally' }) | undefined;
} {
  const counted = (step: Step): step is Step & { readonly buyer: string } =>
    'buyer' in step && step.buyer !== '' && (step.op === 'find' || step.limit > 0);
  const buyers = steps.filter(counted).map(({ buyer }) => buyer);
  return {
    ids: [...new Set(steps.flatMap((step) => ('id' in step ? [step.id] : [])))],
    buyers: [...new Set(buyers)],
    opens: steps.some(({ op }) => op === 'open'),
    tally: steps.find((step) => step.op === 'tally'),
  };
}
