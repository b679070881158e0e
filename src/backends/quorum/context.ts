import type { Claim } from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';
import type { Node } from './node.ts';

/** The facts about the quorum that a ballot needs. */
export interface QuorumContext {
  readonly nodes: readonly Node[];
  readonly majority: number;
  readonly clock: Clock;
  /** If true, tokens are fencing tokens: every engine among the nodes has them. */
  readonly fenced: boolean;
  /** The share of a lease that is still safe to use after clock drift: 0 to 1. */
  readonly worth: number;
  /** The highest number any node has given. */
  highest: bigint;
}

/**
 * Gives the longest time one node may take to vote, ms. It is short: a claim waits for it only if the other nodes leave the outcome open.
 */
export const nodeTimeoutOf = ({ ttl, within }: Pick<Claim, 'ttl' | 'within'>): number =>
  Math.min(500, Math.max(250, ttl / 4), within * 0.8);
