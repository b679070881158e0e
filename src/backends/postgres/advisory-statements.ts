import type { Claim, Grant } from '../../core/index.ts';
import type { AdvisorySession } from './advisory-sessions.ts';
import type { Row } from './pool.ts';
import { advisoryAttempt, advisoryWait } from './sql.generated.ts';

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
export const leastOf = ({ minToken }: Claim): string | null => (minToken === undefined ? null : String(minToken));

/** What a row with a token grants. The grant lasts as long as the session. */
export const grantOf = (row: Row, { session }: AdvisorySession): Grant => ({
  granted: true,
  token: BigInt(String(row.token)),
  validFor: Number.POSITIVE_INFINITY,
  lost: session.ended,
});
