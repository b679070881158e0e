import { LockError } from '../core/contract/errors.ts';
import type { DialectName } from '../transaction/dialect.ts';
import { type Query, recordsOf } from '../transaction/query.ts';

/**
 * For a statement on PostgreSQL. `returning` tells its own transaction. `durable`, in WHERE, makes the commit wait for the disk, also
 * where the server's default is not to.
 */
export const OWN_TRANSACTION = {
  returning: 'txid_current()::text AS transaction',
  durable: `set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true) IS NOT NULL`,
} as const;

/** @throws LockError `LOCK_UNAVAILABLE` if the transaction that changed these rows is not committed */
export async function checkCommitted(result: unknown, query: Query, what: string): Promise<void> {
  const [row] = recordsOf(result);
  const found = await query('SELECT txid_status($1::bigint) AS status', [row!.transaction] as never[]);
  const status = recordsOf(found)[0]?.status;
  if (status !== 'committed') throw revocable('postgres', what, `${status ?? 'not known'}`);
}

/** Flags of MySQL's answers: SERVER_STATUS_IN_TRANS, SERVER_STATUS_AUTOCOMMIT. */
const [IN_TRANSACTION, AUTOCOMMIT] = [1, 2];

/**
 * Checks the flags of MySQL's answer, if the driver passes them on (mysql2).
 * @throws LockError `LOCK_UNAVAILABLE` if the statement with this answer is not committed
 */
export function checkClosed(result: unknown, backend: DialectName, what: string): void {
  const header = Array.isArray(result) ? result[0] : result;
  const { serverStatus = AUTOCOMMIT } = (header ?? {}) as { readonly serverStatus?: number };
  if (serverStatus & IN_TRANSACTION || !(serverStatus & AUTOCOMMIT)) throw revocable(backend, what, 'in progress');
}

const revocable = (backend: DialectName, what: string, status: string): LockError =>
  new LockError(
    'LOCK_UNAVAILABLE',
    `${what} ran inside a transaction that is ${status}, and could still be rolled back: somebody left it open on a connection of the pool; end every transaction before its client goes back. In a transaction of your own, give claim() its own query`,
    { backend },
  );
