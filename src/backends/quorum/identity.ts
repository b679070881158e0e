import type { Backend, Run } from '../../core/contract/backend.ts';
import { invalid, isLockError } from '../../core/contract/errors.ts';

/** As a backend names a run of its server; undefined where it does not. */
export type Named = string | Run | undefined;

/** Which run of which server a node is. */
export class Identity {
  run: Run | undefined;
  /** The latest that the run may have begun. */
  since = Number.NEGATIVE_INFINITY;
  /** Another run of it was known before. */
  restarted = false;
  /** Nobody can see whether it started anew. */
  nameless: boolean;
  /** The node whose server it is, too: it has never been one of its own. */
  twin: Identity | undefined;
  readonly #backend: Backend;
  readonly #title: string;
  readonly #all: Identity[];
  /** As it was told last. */
  #told: Named;
  /** When the run was recognised. */
  #knownAt = 0;

  /** @param all of its quorum, which it joins */
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

  /** Whether that is surely the run that is known. */
  isSame(told: Named | Promise<Named>): boolean {
    return told === this.#told && !this.twin;
  }

  /** Where the right to ask is missing there is no name, and so no guard. */
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
   * @returns whether that is another run than was known
   * @throws LockError `LOCK_INVALID` when another node is the same server
   */
  recognise(told: string | Run, now: number): boolean {
    const run: Run = typeof told === 'string' ? { id: told } : told;
    this.#told = told;
    const other = this.#all.find((each) => each !== this && each.run?.id === run.id);
    if (other) {
      if (!this.run) this.twin = other;
      this.#told = undefined; // asked again with the next vote: it may be over
      throw this.twin
        ? invalid(`${other.#title} and ${this.#title} of a quorum are the same server; give it independent ones`)
        : new Error(`is the same server as ${other.#title} for now`);
    }
    this.twin = undefined;
    const before = this.run;
    if (run.id === before?.id) return false;
    const began = run.age === undefined ? now : now - run.age;
    // One that ran already while the other one answered is another server, and not that one started anew.
    this.since = before && began < this.#knownAt ? now : began;
    this.run = run;
    this.#knownAt = now;
    this.restarted = before !== undefined;
    return true;
  }
}
