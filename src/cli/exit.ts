import { isLockError, type LockErrorCode } from '../core/errors.ts';

/** Exit codes, by the names of sysexits.h where it has one. */
export const EXIT = {
  OK: 0,
  /** The answer is no: nothing was evicted, something endangers the locks. */
  NO: 1,
  /** There is no answer: too little happened. */
  UNPROVEN: 2,
  USAGE: 64,
  UNAVAILABLE: 69,
  SOFTWARE: 70,
  /** What it prints could not be written. */
  IO: 74,
  /** The lock was not obtained: try again later. */
  TEMPFAIL: 75,
  /** As the shells have it. */
  NOT_EXECUTABLE: 126,
  NOT_FOUND: 127,
  /** As of a process that SIGPIPE ended: nobody reads what it prints. */
  UNREAD: 141,
} as const;

/** An error that is one exit code. */
export class ExitError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The command line is wrong. */
export class UsageError extends ExitError {
  constructor(message: string) {
    super(EXIT.USAGE, message);
  }
}

const OF_LOCK: Partial<Record<LockErrorCode, number>> = {
  LOCK_TIMEOUT: EXIT.TEMPFAIL,
  LOCK_INVALID: EXIT.USAGE,
  LOCK_UNAVAILABLE: EXIT.UNAVAILABLE,
  LOCK_UNSUPPORTED: EXIT.UNAVAILABLE,
  LOCK_LOST: EXIT.UNAVAILABLE,
};

/** What an error is to the shell. */
export function exitCodeOf(error: unknown): number {
  if (isLockError(error)) return OF_LOCK[error.code] ?? EXIT.SOFTWARE;
  if (error instanceof ExitError) return error.exitCode;
  return isParseError(error) ? EXIT.USAGE : EXIT.SOFTWARE;
}

/** An error in one line. */
export function lineOf(error: unknown): string {
  const message = error instanceof Error ? error.message || error.name : String(error);
  // Node goes on to explain how to pass arguments that begin with a dash.
  const first = isParseError(error) ? message.split(/\.(?:\s|$)/)[0]! : message;
  return first.replaceAll(/\s*\n\s*/g, ' ');
}

const isParseError = (error: unknown): boolean =>
  String((error as { code?: unknown } | null)?.code).startsWith('ERR_PARSE_ARGS');
