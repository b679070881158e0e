/** A segment or the reserve: a place that holds units. Every step changes one cell, atomically. */
export interface Cell {
  /** The epoch of the layout. A step with another one comes from a process with an old layout, which must read the new one. */
  readonly epoch: number;
  readonly free: number;
  readonly reserved: number;
  readonly sold: number;
  /** All units that ever were put in here from outside, moved in from other cells, or moved out to them. */
  readonly put: number;
  readonly in: number;
  readonly out: number;
  /** Every move and every return raises it, and nothing else does. The same value twice means that no unit came meanwhile. */
  readonly generation: number;
  /** The highest fencing token seen, as digits; '' before the first. */
  readonly fence: string;
  /** The number of the last move out of here. */
  readonly seq: number;
  /** The journal: moves out of here that nobody has cleared, by the cell that they go to. At most one for each cell. */
  readonly moves: Readonly<Record<string, Move>>;
  /** The last move that arrived, by the cell that it came from. A move that is not newer has arrived already. */
  readonly seen: Readonly<Record<string, number>>;
}

export interface Move {
  readonly seq: number;
  readonly units: number;
}

/** `put`: units from outside. They are written down so that a repeated restock counts once. */
export type Status = 'reserved' | 'sold' | 'cancelled' | 'expired' | 'put';

/** What became of one request. It is kept as long as the product, since a request may be repeated at any time. */
export interface Entry {
  readonly id: string;
  /** '' where the order names no buyer. */
  readonly buyer: string;
  readonly units: number;
  readonly status: Status;
  /** When the reservation runs out, ms by the engine's clock; 0 where there is none. */
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

/** Whether a cell's own books are right. This holds at every moment, also while units move between other cells. */
export const isBalanced = ({ put, in: moved, out, free, reserved, sold }: Cell): boolean =>
  put + moved - out === free + reserved + sold && free >= 0 && reserved >= 0;
