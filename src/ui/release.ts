import { isLockError } from '../core/contract/errors.ts';
import type { Locks } from '../locks.ts';
import type { ReleaseAnswer, ReleaseOrder } from './wire.ts';

/** The longest reason, in characters. */
const LONGEST_REASON = 500;

/** Reads what the page asks for, or says what is wrong with it. */
export function orderOf(body: string): ReleaseOrder | string {
  let order: Partial<ReleaseOrder> | null;
  try {
    order = JSON.parse(body);
  } catch {
    return 'the request is not JSON';
  }
  const { key, ticket, reason } = order ?? {};
  if (typeof key !== 'string' || key === '') return 'the key is missing';
  if (typeof ticket !== 'string' || !/^\d{1,40}$/.test(ticket)) return 'the ticket of the holder is missing';
  if (typeof reason !== 'string' || reason.trim() === '') return 'a reason is needed, for whoever reads the log';
  return { key, ticket, reason: reason.trim().slice(0, LONGEST_REASON).toWellFormed() };
}

/** Evicts the one holder that the page has shown. A later holder keeps the key. */
export async function release(locks: Locks, { key, ticket, reason }: ReleaseOrder): Promise<ReleaseAnswer> {
  try {
    return { evicted: (await locks.forceRelease(key, { reason, ticket: BigInt(ticket) })) > 0 };
  } catch (error) {
    if (isLockError(error)) return { error: error.message };
    throw error;
  }
}
