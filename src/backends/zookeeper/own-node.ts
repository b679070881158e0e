import type { Refused } from '../shared/line-verdict.ts';
import type { Member } from './names.ts';
import type { Connection } from './wire/connection.ts';

/** A node of ours in a line. It is the place, and later the hold. */
export interface OwnNode {
  readonly session: bigint;
  readonly path: string;
  readonly name: string;
  readonly token: bigint;
  /** Made with the first grant: only a hold can be lost. */
  lost?: AbortController;
  /** A time before its creation was sent, by the clock. Set by the first answered attempt. */
  made?: number;
  /** When the last answered attempt began. */
  asked: number;
  /** Whether the next in line was told of this admission. */
  relay?: 'owed' | 'told';
  /** The connection on which the node was seen and is watched. While it lives and tells nothing, the node is there. */
  seenOn?: Connection;
  /** Why it waits, by the last listing of its line. */
  refusal?: ListedRefusal;
  /** The watch that tells when that changes. */
  guard?: Guard;
}

/** Why a place was refused, and by which listing. */
export interface ListedRefusal {
  readonly verdict: Refused<Member>;
  /** The transaction that had changed the line last. */
  readonly asOf: bigint;
  /** The time of that listing, by the clock. */
  readonly listed: number;
}

/** The watch on the obstacle of a place. */
export interface Guard {
  readonly connection: Connection;
  /** Whether the watch is over, so that it would tell nothing. */
  isOver(): boolean;
}
