/** How the look at all keys stands. Times are ms of the clock of this process. */
export interface Looks {
  /**
   * `never`: nothing was seen yet. `seen`: the last look was complete. `failing`: it was not. `unable`: this engine cannot list its
   * locks.
   */
  readonly state: 'never' | 'seen' | 'failing' | 'unable';
  /** When the last complete look ended, and how long it took. */
  readonly at?: number;
  readonly took?: number;
  /** When the next one begins; undefined while one is under way, or nobody looks on. */
  readonly next?: number;
  /** How many keys the one that is under way has looked at. */
  readonly looked?: number;
  /** Why the last one failed, and when the first one failed since an engine answered. */
  readonly error?: string;
  readonly failingSince?: number;
}
