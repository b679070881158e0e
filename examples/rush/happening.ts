/** What happens to a driver or a buyer in a rush, in the order in which it can happen. */
export type What =
  /** The request has arrived in the process. */
  | 'taps'
  /** Stands in the line of the lock. */
  | 'waits'
  /** Has the lock. */
  | 'enters'
  /** Has read how many are left. */
  | 'reads'
  /** The process is stopped, and knows nothing of it. */
  | 'pauses'
  | 'wakes'
  /** Has written: the order, or a unit, is theirs. */
  | 'writes'
  /** Their write was refused, for a newer token was there before. */
  | 'refused'
  /** The answer has left the process. */
  | 'told';

export interface Happening {
  /** By the clock of the machine: ms since 1970, with fractions. */
  readonly at: number;
  readonly who: string;
  readonly what: What;
  /** The order, or the segment, where it is about one. */
  readonly thing?: number;
  /** `enters`, `writes`, `refused`: the fencing token. */
  readonly token?: string;
  /** `reads`: how many are left; of an order 1 or 0. */
  readonly left?: number;
  /** `told`: whether they got it. */
  readonly won?: boolean;
  /** `enters`: for how long the lock is theirs if it is not renewed, ms. */
  readonly ttl?: number;
}
