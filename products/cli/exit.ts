import { isLockError, type LockErrorCode } from '../../src/core/index.ts';

/** Exit codes, with their names in sysexits.h if they have one. */
export const EXIT = {
  OK: 0,
  /** The answer is no: nothing was evicted, or something endangers the locks. */
  NO: 1,
  /** There is no answer: too little happened to prove anything. */
  UNPROVEN: 2,
  USAGE: 64,
  UNAVAILABLE: 69,
  SOFTWARE: 70,
  /** The output could not be written. */
  IO: 74,
  /** The lock was not obtained: try again later. */
  TEMPFAIL: 75,
  /** As in shells: the command is no program, or not there. */
  NOT_EXECUTABLE: 126,
  NOT_FOUND: 127,
  /** The code of a process that SIGPIPE ended: nobody reads the output. */
  UNREAD: 141,
} as const;

export class ExitError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

export class UsageError extends ExitError {
  constructor(message: string) {
    super(EXIT.USAGE, message);
  }
}

/** @throws UsageError unless `text` is a whole number within the bounds */
export function whole(text: string, name: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`${name} is ${JSON.stringify(text)}; it must be a whole number from ${least} to ${most}`);
}

const OF_LOCK: Partial<Record<LockErrorCode, number>> = {
  LOCK_TIMEOUT: EXIT.TEMPFAIL,
  LOCK_INVALID: EXIT.USAGE,
  LOCK_UNAVAILABLE: EXIT.UNAVAILABLE,
  LOCK_UNSUPPORTED: EXIT.UNAVAILABLE,
  LOCK_LOST: EXIT.UNAVAILABLE,
  LOCK_TOO_LARGE: EXIT.UNAVAILABLE,
  LOCK_POISONED: EXIT.TEMPFAIL,
  LOCK_MISMATCH: EXIT.USAGE,
};

export function exitCodeOf(error: unknown): number {
  if (isLockError(error)) return OF_LOCK[error.code] ?? EXIT.SOFTWARE;
  if (error instanceof ExitError) return error.exitCode;
  return isParseError(error) ? EXIT.USAGE : EXIT.SOFTWARE;
}

/** The options of the library that are flags here, too. */
export const FLAGS = [
  ...['wait', 'ttl', 'minHold', 'delay', 'permits', 'keep', 'match', 'attempts', 'refresh'],
  ...['within', 'skew', 'retry', 'overlap', 'traceUrl'],
] as const;

const OPTION = new RegExp(`(?<![-\\w.])(${FLAGS.join('|')})(?:: (?:'([^']*)'|(true)|(\\d+))|(?= is ))`, 'g');

/** Writes the options in a message of the library as flags: `wait: '5m'` becomes `--wait 5m`. */
const inFlags = (message: string): string =>
  message
    .replaceAll(OPTION, (_all, name: string, text?: string, _true?: string, number?: string) => {
      const value = text ?? number;
      const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      return `--${flag}${value === undefined ? '' : ` ${value}`}`;
    })
    .replaceAll('forget() it', 'forget it: holdfast memo forget <key>');

/** An error in one line, in the words of the command line. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message || error.name : String(error);
  // The next sentences explain how to pass arguments that begin with a dash.
  const first = isParseError(error) ? message.split(/\.(?:\s|$)/)[0]! : message;
  return inFlags(first).replaceAll(/\s*\n\s*/g, ' ');
}

const isParseError = (error: unknown): boolean =>
  String((error as { code?: unknown } | null)?.code).startsWith('ERR_PARSE_ARGS');
