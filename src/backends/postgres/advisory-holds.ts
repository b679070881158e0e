import type { Attempt } from '../../core/backend.ts';
import type { Desk } from './sessions.ts';

/** What this process holds, or asks for, which nobody else here may ask for meanwhile. */
export interface Hold {
  readonly shared: boolean;
  readonly asked: Promise<Attempt>;
  desk?: Desk;
}

/** By lock and id: what this process holds or asks for. The same session would be let in twice, so we look here first. */
export class AdvisoryHolds {
  readonly #byLock = new Map<string, Map<string, Hold>>();

  get(lock: string, id: string): Hold | undefined {
    return this.#living(lock)?.get(id);
  }

  /** Whether one more may be asked for: readers among themselves. */
  admits(lock: string, shared: boolean): boolean {
    return [...(this.#living(lock)?.values() ?? [])].every((hold) => hold.shared && shared);
  }

  /** Whether others have the same lock, or ask for it, on the same session. */
  beside(lock: string, { desk }: Hold): boolean {
    if (desk === undefined) return false;
    return [...(this.#living(lock)?.values() ?? [])].filter((hold) => hold.desk === desk).length > 1;
  }

  keep(lock: string, id: string, hold: Hold): void {
    const holds = this.#byLock.get(lock);
    if (holds) holds.set(id, hold);
    else this.#byLock.set(lock, new Map([[id, hold]]));
  }

  forget(lock: string, id: string): void {
    const holds = this.#byLock.get(lock);
    const hold = holds?.get(id);
    if (!holds || !hold) return;
    if (hold.desk) hold.desk.load--;
    holds.delete(id);
    if (holds.size === 0) this.#byLock.delete(lock);
  }

  /** Without what went down with its session. */
  #living(lock: string): ReadonlyMap<string, Hold> | undefined {
    const holds = this.#byLock.get(lock);
    for (const [id, { desk }] of holds ?? []) if (desk?.session.ended.aborted) this.forget(lock, id);
    return holds;
  }
}
