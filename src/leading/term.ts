/** One time as leader: from the election until the function has settled. */
export interface Term {
  /** The name of the election. */
  readonly name: string;
  /** The fencing token; it grows with every term. The resource that the leader writes to should refuse an older token. */
  readonly token: bigint;
  /**
   * Aborted when the term must end: it is lost (before the deadline; the reason is the `LOCK_LOST` error), `resign()` was called, or the signal of
   * `run` was aborted. The next term begins when the function has settled; after a loss, it may begin earlier.
   */
  readonly signal: AbortSignal;
  /** False from the deadline on. Each read looks at the clock. */
  readonly held: boolean;
  /** ms until the deadline, unless the lease is renewed. */
  readonly remaining: number;
  /**
   * @throws LockError `LOCK_LOST`
   * @example
   * await locks.leader('feed').run(
   *   async (term) => {
   *     term.assertHeld();
   *     await writeOrder(term.token);
   *   },
   *   { signal },
   * );
   */
  assertHeld(): void;
}

/** The work of a leader in a term. */
export type TermWork = (term: Term) => Promise<unknown> | unknown;
