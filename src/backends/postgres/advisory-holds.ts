import type { Attempt, Claim, Grant } from '../../core/index.ts';
import type { AdvisorySession } from './advisory-sessions.ts';
import type { Row } from './pool.ts';
import { advisoryAttempt, advisoryWait } from './sql.generated.ts';

/** A lock that this process holds or asks for. */
export interface AdvisoryHold {
  readonly shared: boolean;
  readonly asked: Promise<Attempt>;
  /** Where it is held or asked for, once a session was found. */
  on?: AdvisorySession;
}

/** What this process holds or asks for, by lock and id. The server would let one session in twice, so we look here first. */
export class AdvisoryHolds {
  readonly #byLock = new Map<string, Map<string, AdvisoryHold>>();

  get(lock: string, id: string): AdvisoryHold | undefined {
    return this.#living(lock)?.get(id);
  }

  /** Whether one more may be asked for: one reader beside others. */
  admits(lock: string, shared: boolean): boolean {
    return [...(this.#living(lock)?.values() ?? [])].every((hold) => hold.shared && shared);
  }

  /** Whether others have the same lock, or ask for it, on the same session. */
  beside(lock: string, { on }: AdvisoryHold): boolean {
    if (!on) return false;
    return [...(this.#living(lock)?.values() ?? [])].filter((hold) => hold.on === on).length > 1;
  }

  keep(lock: string, id: string, hold: AdvisoryHold): void {
    this.#byLock.set(lock, (this.#byLock.get(lock) ?? new Map()).set(id, hold));
  }

  forget(lock: string, id: string): void {
    const holds = this.#byLock.get(lock);
    const hold = holds?.get(id);
    if (!holds || !hold) return;
    if (hold.on) hold.on.load--;
    holds.delete(id);
    if (holds.size === 0) this.#byLock.delete(lock);
  }

  /** Without those whose session has ended. */
  #living(lock: string): ReadonlyMap<string, AdvisoryHold> | undefined {
    const holds = this.#byLock.get(lock);
    for (const [id, { on }] of holds ?? []) if (on?.session.ended.aborted) this.forget(lock, id);
    return holds;
  }
}

/** For readers, the functions of the server have names with another ending. */
const texts = (end: '' | '_shared', named: (script: string) => string) => ({
  attempt: named(advisoryAttempt.replaceAll('{try}', `pg_try_advisory_lock${end}`)),
  wait: named(advisoryWait.replaceAll('{wait}', `pg_advisory_lock${end}`)),
  unlock: `SELECT pg_advisory_unlock${end}($1::bigint)::int AS freed`,
});

export type AdvisoryStatements = (shared: boolean) => ReturnType<typeof texts>;

export function advisoryStatements(named: (script: string) => string): AdvisoryStatements {
  const [exclusive, shared] = [texts('', named), texts('_shared', named)];
  return (share) => (share ? shared : exclusive);
}

/** The lowest token allowed, as the statements take it. */
export const minTokenOf = ({ minToken }: Claim): string | null => (minToken === undefined ? null : String(minToken));

/** What a row with a token grants. The grant lasts as long as the session. */
export const grantOf = (row: Row, { session }: AdvisorySession): Grant => ({
  granted: true,
  token: BigInt(String(row.token)),
  validFor: Number.POSITIVE_INFINITY,
  lost: session.ended,
});
