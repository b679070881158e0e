import type { Backend, Run } from '../../core/contract/backend.ts';
import { invalid, isLockError } from '../../core/contract/errors.ts';

/** The name that a backend gives to a run of its server; undefined if the backend gives none. */
export type Named = string | Run | undefined;

/** The run of the server behind one node. */
export class Identity {
  run: Run | undefined;
  /** The latest time at which the run may have begun. */
  since = Number.NEGATIVE_INFINITY;
  /** True if an earlier run of this node was known. */
  restarted = false;
  /** True if the backend cannot show whether its server restarted. */
  nameless: boolean;
  /** Another node with the same server. It is set only if this node never had a server of its own. */
  twin: Identity | undefined;
  readonly #backend: Backend;
  readonly #title: string;
  readonly #all: Identity[];
  /** The name that the backend gave last. */
  #told: Named;
  /** The time at which the run was recognised. */
  #knownAt = 0;

  /** @param all the identities of the quorum; the new one is added to them */
  constructor(backend: Backend, title: string, all: Identity[]) {
    this.#backend = backend;
    this.#title = title;
    this.#all = all;
    this.nameless = !backend.incarnation;
    all.push(this);
  }

  ask(): Named | Promise<Named> {
    return this.nameless ? undefined : this.#backend.incarnation!();
  }

  /** True if `told` is certainly the run that is known. */
  isSame(told: Named | Promise<Named>): boolean {
    return told === this.#told && !this.twin;
  }

  /** A user without the right to ask gets no name, and so the node has no guard. */
  async named(asked: Named | Promise<Named>): Promise<Named> {
    try {
      return await asked;
    } catch (error) {
      if (!isLockError(error)) throw error;
      this.nameless = true;
      return undefined;
    }
  }

  /**
   * @returns true if the run is not the one that was known
   * @throws LockError `LOCK_INVALID` when another node is the same server
   */
  recognise(told: string | Run, now: number): boolean {
    const run: Run = typeof told === 'string' ? { id: told } : told;
    this.#told = told;
    const other = this.#all.find((each) => each !== this && each.run?.id === run.id);
    if (other) {
      if (!this.run) this.twin = other;
      this.#told = undefined; // the next vote asks again: the two nodes may have parted by then
      throw this.twin
        ? invalid(`${other.#title} and ${this.#title} of a quorum are the same server; give it independent ones`)
        : new Error(`is the same server as ${other.#title} for now`);
    }
    this.twin = undefined;
    const before = this.run;
    if (run.id === before?.id) return false;
    const began = run.age === undefined ? now : now - run.age;
    // A run that began while the earlier run still answered belongs to another server; the earlier server did not restart.
    this.since = before && began < this.#knownAt ? now : began;
    this.run = run;
    this.#knownAt = now;
    this.restarted = before !== undefined;
    return true;
  }
}
