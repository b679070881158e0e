/** The state of the look at all keys. Times are ms by the clock of this process. */
export interface Looks {
  /**
   * `never`: no look has ended yet. `seen`: the last look was complete. `failing`: it failed. `unable`: this engine cannot list
   * its locks.
   */
  readonly state: 'never' | 'seen' | 'failing' | 'unable';
  /** When the last complete look ended, and how long it took. */
  readonly at?: number;
  readonly took?: number;
  /** When the next look begins; undefined during a look, or if no page is open. */
  readonly next?: number;
  /** How many keys the current look has read. */
  readonly looked?: number;
  /** Why the last look failed, and when the first one failed since the last answer. */
  readonly error?: string;
  readonly failingSince?: number;
}
