/** What one place that holds units looks like: a segment, or the reserve. Every step changes one cell, atomically. */
export interface Cell {
  /** Of the map; a step that brings another one comes from somebody with an old map, and is sent back to read it. */
  readonly epoch: number;
  readonly free: number;
  readonly reserved: number;
  readonly sold: number;
  /** All units ever put in here from outside, moved in from other cells, and moved out to them. */
  readonly put: number;
  readonly in: number;
  readonly out: number;
  /** Raised by every move and every return, and by nothing else: the same twice means that no unit came. */
  readonly generation: number;
  /** The highest fencing token seen, as digits; '' before the first. */
  readonly fence: string;
  /** Number of the last move out of here. */
  readonly seq: number;
  /** Journal: moves out of here that nobody has cleared, by the cell they go to. One at a time for each. */
  readonly moves: Readonly<Record<string, Move>>;
  /** The last move taken in, by the cell it came from: whatever is not newer has arrived already. */
  readonly seen: Readonly<Record<string, number>>;
}

export interface Move {
  readonly seq: number;
  readonly units: number;
}

/** `put`: units from outside, written down so that a repeated restock counts once. */
export type Status = 'reserved' | 'sold' | 'cancelled' | 'expired' | 'put';

/** What became of one request. Kept as long as the product, since a request may be repeated at any time. */
export interface Entry {
  readonly id: string;
  /** '' for nobody in particular. */
  readonly buyer: string;
  readonly units: number;
  readonly status: Status;
  /** ms of the engine's clock; 0 when nothing runs out. */
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

/** The reserve is a cell like the others; segments count from 0. */
export const RESERVE = -1;

/** Whether a cell's own books are right: this holds at every moment, whatever is on its way elsewhere. */
export const balanced = ({ put, in: moved, out, free, reserved, sold }: Cell): boolean =>
  put + moved - out === free + reserved + sold && free >= 0 && reserved >= 0;
