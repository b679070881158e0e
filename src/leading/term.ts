import type { Lease } from '../core/index.ts';
import type { TermEnd } from './events.ts';
import { LeasedRun } from './leased-run.ts';

/** One time as leader: from the election until the function has settled. */
export interface Term {
  /** The name of the election. */
  readonly name: string;
  /** The fencing token; it grows with every term. What the leader writes to should refuse an older one. */
  readonly token: bigint;
  /**
   * Aborted when the term must end: it is lost (before the deadline; the reason is the `LOCK_LOST` error), `resign()` was
   * called, or `run` was told to stop. The next term begins only when the function has settled. After a loss it begins on its
   * own.
   */
  readonly signal: AbortSignal;
  /** Compares the clock now. False from the deadline on. */
  readonly held: boolean;
  /** ms until the deadline unless renewed. */
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

/** @internal A term with its lease, and the reason of its end. */
export class HeldTerm extends LeasedRun implements Term {
  readonly name: string;
  #why: TermEnd | undefined;

  constructor(name: string, lease: Lease) {
    super([{ lease }]);
    this.name = name;
  }

  /** The first reason of the end; undefined while the term lasts. */
  get why(): TermEnd | undefined {
    return this.#why;
  }

  end(why: TermEnd, reason?: unknown): void {
    if (this.#why !== undefined) return;
    this.#why = why;
    this.abort(reason);
  }

  /** Ends with its lease, or with a signal to stop, until `over`. */
  follow(stop: AbortSignal | undefined): void {
    this.listen(
      stop,
      (loss) => this.end('lost', loss),
      (reason) => this.end('stopped', reason),
    );
  }
}
