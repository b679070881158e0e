import { LockError } from '../../core/index.ts';

/** SQLite's codes when another process is in a transaction, recovers the file, or won a race. SQLite has done nothing then. */
const BUSY = new Set([5, 6, 15]);

/** SQLite's primary result codes of definite refusals, each with advice. SQLite has done nothing, and would refuse again. */
const REFUSED: Readonly<Record<number, string>> = {
  3: 'let this user read and write the file and its directory',
  8: 'let this user write the file and its directory, on a file system that is not mounted read-only',
  11: 'the file is damaged: end the processes that use it, move it away, and start them again; every lock in it is void',
  13: 'free some space; locks that are held stay held for as long as they last',
  14: 'let this user create and open files there',
  23: 'let this user read and write the file and its directory',
  26: 'this is not a locks file: give another path; nothing in it was changed',
};

/** The primary code is the low byte of the extended code: https://sqlite.org/rescode.html */
const sqliteCode = (error: unknown): number => Number((error as { errcode?: unknown })?.errcode ?? 0) & 0xff;

export const isBusy = (error: unknown): boolean => BUSY.has(sqliteCode(error));

/** A definite refusal becomes a `LockError`. Any other error (an I/O error in a commit) stays as it is: its outcome is unknown. */
export function faultOf(error: unknown, path: string): unknown {
  if (error instanceof LockError) return error;
  const advice = REFUSED[sqliteCode(error)];
  return advice ? unavailable(path, advice, error) : error;
}

export function unavailable(path: string, advice: string, cause?: unknown): LockError {
  const reason = cause instanceof Error ? ` (${cause.message})` : '';
  const message = `the locks file ${path} cannot be used${reason}: ${advice}`;
  return new LockError('LOCK_UNAVAILABLE', message, { backend: 'file', cause });
}
