/** The reason for a `LockError`. It is stable, so that programs can compare it. */
export type LockErrorCode =
  /** The wait ended while others had the lock. */
  | 'LOCK_TIMEOUT'
  /** The caller's signal ended the wait. */
  | 'LOCK_ABORTED'
  /** The hold is gone, or will end before a renewal: stop writing. */
  | 'LOCK_LOST'
  /** This lease was released already. */
  | 'LOCK_NOT_HELD'
  /** The `Locks` were closed. */
  | 'LOCK_CLOSED'
  /** The caller would wait for itself; or, with `detect`, for another caller that waits for this one. */
  | 'LOCK_DEADLOCK'
  /** A guard has seen a newer token. */
  | 'LOCK_FENCED'
  /** The memo under this key has the result of another request. */
  | 'LOCK_MISMATCH'
  /** The memo was begun too often without a result. */
  | 'LOCK_POISONED'
  /** The memo failed, and its error is kept. */
  | 'LOCK_FAILED'
  /** The memo has a result that is too long to be kept. */
  | 'LOCK_TOO_LARGE'
  /** The engine did not answer. If it acted all the same, holdfast undoes that. */
  | 'LOCK_UNAVAILABLE'
  /** The engine lacks the feature, or its driver is not installed. */
  | 'LOCK_UNSUPPORTED'
  /** A bad key, duration, number or option. */
  | 'LOCK_INVALID';

export interface LockErrorDetails {
  readonly key?: string;
  readonly backend?: string;
  readonly cause?: unknown;
  readonly outcome?: PromiseSettledResult<unknown>;
}

/** All copies of the package know this mark. `instanceof` knows only the errors of its own copy. */
const BRAND = Symbol.for('holdfast.LockError');

/**
 * Every error that holdfast throws. `code` is stable; the message says what failed, where, and what to do.
 * @example
 * await locks.mutex('order:42').run(() => work(), { wait: '2s' }).catch((error) => {
 *   if (error instanceof LockError && error.code === 'LOCK_TIMEOUT') return 'busy';
 *   throw error;
 * });
 */
export class LockError extends Error {
  /** The name of the class, for logs. */
  override readonly name = 'LockError';
  /** The reason, for programs to compare. */
  readonly code: LockErrorCode;
  // The fields below are only declared, so that an error has no property with the value undefined.
  /** The key, if the error is about one. */
  declare readonly key?: string;
  /** The name of the engine, if the error is about one. */
  declare readonly backend?: string;
  /** The result or error of the function that ran while the lease was lost; only with `onLoss: 'throw'`. */
  declare readonly outcome?: PromiseSettledResult<unknown>;

  constructor(code: LockErrorCode, message: string, details: LockErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    if (details.key !== undefined) this.key = details.key;
    if (details.backend !== undefined) this.backend = details.backend;
    if (details.outcome !== undefined) this.outcome = details.outcome;
  }

  get [BRAND](): true {
    return true;
  }
}

/**
 * Whether `error` is a `LockError`, from any copy of the package, and has this `code`, if one is given.
 * @example
 * await using lease = await locks.mutex('order:42').acquire();
 * try {
 *   lease.assertHeld();
 * } catch (error) {
 *   if (!isLockError(error, 'LOCK_LOST')) throw error;
 * }
 */
export function isLockError(error: unknown, code?: LockErrorCode): error is LockError {
  const branded = error as { readonly [BRAND]?: unknown; readonly code?: unknown } | null | undefined;
  return branded?.[BRAND] === true && (code === undefined || branded.code === code);
}

export const invalid = (message: string, key?: string): LockError => new LockError('LOCK_INVALID', message, { key });

/** Writes a value for a message: short, quoted, never a whole object. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined)
    return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Writes a key or a name for a message. */
export const quoted = (key: string): string => JSON.stringify(key.length > 80 ? `${key.slice(0, 77)}…` : key);

/** Writes how many of something there are: `1 hold`, `1,200 holds`. */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : several}`;

/** Writes a time for a message: rounded, since a computed time may have fractions of a ms. */
export const inMs = (ms: number): string => `${ms < 1 ? ms : Math.round(ms)} ms`;

/**
 * Gives the message of a cause without its full stop, since a sentence follows. It never throws: a cause may be anything. For a name with several
 * addresses, Node lists the failures and leaves the message empty.
 */
export function reasonOf(cause: unknown): string {
  try {
    const listed = cause instanceof AggregateError ? cause.errors.map(reasonOf).join('; ') : '';
    const text = cause instanceof Error ? String(cause.message ?? '') || listed || cause.name : String(cause);
    return text.replace(/[.\s]+$/, '');
  } catch {
    return 'an error without a text';
  }
}
