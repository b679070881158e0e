import type { Claim } from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';
import type { Node } from './node.ts';

/** What a ballot knows of its quorum. */
export interface QuorumContext {
  readonly nodes: readonly Node[];
  readonly majority: number;
  readonly clock: Clock;
  /** Tickets are tokens: no engine among the nodes is without. */
  readonly fenced: boolean;
  /** The part of a lease that is good for so much of it after drift (see `quorum`). */
  readonly worth: number;
  /** The highest number any node has given. */
  highest: bigint;
}

/** How long one node may take. Short, since it is only spent where the others leave the outcome open. ms. */
export const nodeTimeoutOf = ({ ttl, within }: Pick<Claim, 'ttl' | 'within'>): number =>
  Math.min(500, Math.max(250, ttl / 4), within * 0.8);
