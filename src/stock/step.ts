import type { Cell, Status } from './cell.ts';

/** What can be asked of a cell. Repeating any of them, with the same values, is harmless, but for `send`. */
export type Step =
  /** Makes the cell if it is not there, and raises its epoch. */
  | { readonly op: 'open'; readonly epoch: number }
  /** Units from outside. */
  | { readonly op: 'put'; readonly epoch: number; readonly id: string; readonly units: number }
  | Take
  | { readonly op: 'settle'; readonly id: string; readonly to: 'sold' | 'cancelled'; readonly token: string }
  /** What is known of a request, and how many units a buyer has. */
  | { readonly op: 'find'; readonly id: string; readonly buyer: string }
  /** Out of here, into the journal: as many of `units` as are free, unless a move to that cell is under way. */
  | { readonly op: 'send'; readonly to: number; readonly units: number }
  | { readonly op: 'receive'; readonly from: number; readonly seq: number; readonly units: number }
  /** The move has arrived: out of the journal. */
  | { readonly op: 'clear'; readonly to: number; readonly seq: number }
  | { readonly op: 'look' }
  /** Adds up a portion of the requests, from the first one or from the `next` of the last portion: for audits. */
  | { readonly op: 'tally'; readonly from?: string };

export interface Take {
  readonly op: 'take';
  readonly epoch: number;
  readonly id: string;
  readonly buyer: string;
  readonly units: number;
  /** ms until the units come back by themselves; 0: sold at once. */
  readonly ttl: number;
  /** The most a buyer may have; 0: no limit. */
  readonly limit: number;
  /** What the buyer has in other cells. */
  readonly already: number;
  /** Fencing token as digits; '' without a lock. */
  readonly token: string;
}

export interface Reply {
  /**
   * `done`; a status: that is what the request is already; or why not: `stale` epoch, `fenced` token, `reused` id,
   * above the `limit`, `empty`, `unknown` request, a move `busy`; `missing`: there is no such cell.
   */
  readonly is: 'done' | Status | 'stale' | 'fenced' | 'reused' | 'limit' | 'empty' | 'unknown' | 'busy' | 'missing';
  /** Of a request. */
  readonly units?: number;
  readonly buyer?: string;
  readonly until?: number;
  /** Of the engine's clock, with `until`. */
  readonly now?: number;
  /** Units the buyer has in this cell. */
  readonly bought?: number;
  /** Of a move. */
  readonly seq?: number;
  readonly cell?: Cell;
  /** Units of a portion of requests. */
  readonly reserved?: number;
  readonly sold?: number;
  /** Where the next portion begins; there is none after the last one. */
  readonly next?: string;
  /** How many the portion has, and the cell, where a portion may show one twice. */
  readonly counted?: number;
  readonly requests?: number;
}
