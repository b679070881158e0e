import { type Backend, type Clock, invalid, isLockError, type Run } from '../../core/index.ts';

/** The name that a backend gives to a run of its server; undefined if the backend gives none. */
export type RunName = string | Run | undefined;

/** True if the user has no right to the call, which lasts. A closed client, a wrong password or a full server may be mended at any time. */
export const isForbidden = (error: unknown): boolean =>
  isLockError(error) && !/\b(CLOSED|NOAUTH|WRONGPASS|OOM|password|full)\b/i.test(error.message);

/** The run of the server behind one node. */
export class ServerIdentity {
  run: Run | undefined;
  /** The latest time at which the run may have begun. */
  since = Number.NEGATIVE_INFINITY;
  /** The run of this node that was known before this one. */
  before: Run | undefined;
  /** True if the backend cannot show whether its server restarted. */
  nameless: boolean;
  /** Another node with the same server. It is set only if this node never had a server of its own. */
  twin: ServerIdentity | undefined;
  readonly backend: Backend;
  readonly #title: string;
  readonly #all: ServerIdentity[];
  readonly #onRun: (() => void) | undefined;
  #lastName: RunName;
  /** The latest time at which the run was still there, as far as is known. */
  #seenAt = 0;

  /** @param all the identities of the quorum; the new one is added to them @param onRun called at once when the run is not the one that was known */
  constructor(backend: Backend, title: string, all: ServerIdentity[], onRun?: () => void) {
    this.backend = backend;
    this.#title = title;
    this.#all = all;
    this.#onRun = onRun;
    this.nameless = !backend.incarnation;
    all.push(this);
  }

  /** True if an earlier run of this node was known. */
  get restarted(): boolean {
    return this.before !== undefined;
  }

  ask(): RunName | Promise<RunName> {
    return this.nameless ? undefined : this.backend.incarnation!();
  }

  /** True if `name` is certainly the run that is known. @param at a time at which the run that gave the name was there */
  isSame(name: RunName | Promise<RunName>, at = 0): boolean {
    const isSame = name === this.#lastName && !this.twin;
    if (isSame) this.#seenAt = Math.max(this.#seenAt, at);
    return isSame;
  }

  /** Waits for the name. If the user has no right to ask, there is no name, and nothing guards against restarts of the node. */
  async nameFrom(answer: RunName | Promise<RunName>): Promise<RunName> {
    try {
      return await answer;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      this.nameless = true;
      return undefined;
    }
  }

  async learn(answer: RunName | Promise<RunName>, clock: Clock): Promise<void> {
    const name = await this.nameFrom(answer);
    if (name !== undefined) this.recognise(name, clock.resync()); // by `now`, a sleep before this line might count as time since the run began
  }

  /** @throws LockError `LOCK_INVALID` when another node is the same server */
  recognise(name: string | Run, now: number): void {
    const run: Run = typeof name === 'string' ? { id: name } : name;
    this.#lastName = name;
    const other = this.#all.find((each) => each !== this && each.run?.id === run.id);
    if (other) {
      if (!this.run) this.twin = other;
      this.#lastName = undefined; // the next vote asks again: the two nodes may be different servers by then
      throw this.twin
        ? invalid(`${other.#title} and ${this.#title} of a quorum are the same server; give it independent ones`)
        : new Error(`is the same server as ${other.#title} for now`);
    }
    this.twin = undefined;
    const [before, seenAt] = [this.run, this.#seenAt];
    this.#seenAt = now;
    if (run.id === before?.id) return;
    const began = run.age === undefined ? now : now - run.age;
    // A new run that began while the earlier run was still there is of another server: the earlier server did not restart.
    this.since = before && began < seenAt ? now : began;
    this.run = run;
    this.before = before;
    this.#onRun?.();
  }
}
