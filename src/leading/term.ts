import type { Lease } from '../core/index.ts';
import type { TermEnd } from './events.ts';

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

/** @internal A term with its lease, and the reason of its end. */
export class HeldTerm implements Term {
  readonly name: string;
  readonly #lease: Lease;
  readonly #controller = new AbortController();
  /** The first reason of the end; undefined while the term lasts. */
  why: TermEnd | undefined;

  constructor(name: string, lease: Lease) {
    this.name = name;
    this.#lease = lease;
  }

  get token(): bigint {
    return this.#lease.token;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get held(): boolean {
    return this.#lease.held;
  }

  get remaining(): number {
    return this.#lease.remaining;
  }

  assertHeld(): void {
    this.#lease.assertHeld();
  }

  toJSON(): object {
    const { name, token, held, remaining } = this;
    return { name, token: `${token}`, held, remaining };
  }

  end(why: TermEnd, reason?: unknown): void {
    if (this.why !== undefined) return;
    this.why = why;
    this.#controller.abort(reason);
  }
}
