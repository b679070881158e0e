import { LockError } from '../core/errors.ts';
import { type Query, recordsOf } from '../transaction/query.ts';

/**
 * What a statement on PostgreSQL asks about its own transaction: for RETURNING, and for WHERE, where it sees to it that the commit
 * is on disk when it is told, whatever the server's default.
 */
export const OWN_TRANSACTION = {
  returning: 'txid_current()::text AS transaction',
  durable: `set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true) IS NOT NULL`,
} as const;

/** @throws LockError `LOCK_UNAVAILABLE` where the transaction that changed these rows has not been committed */
export async function checkCommitted(result: unknown, query: Query, what: string): Promise<void> {
  const [row] = recordsOf(result);
  const found = await query('SELECT txid_status($1::bigint) AS status', [row!.transaction] as never[]);
  const status = recordsOf(found)[0]?.status;
  if (status === 'committed') return;
  throw new LockError(
    'LOCK_UNAVAILABLE',
    `${what} ran inside a transaction that is ${status ?? 'not known'}, and could still be rolled back: somebody left it open on a connection of the pool; end every transaction before its client goes back. In a transaction of your own, give claim() its own query`,
    { backend: 'postgres' },
  );
}
