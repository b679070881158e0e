/** Why a `LockError` was thrown: stable, for programs to compare. */
export type LockErrorCode =
  /** The wait ended while others had the lock. */
  | 'LOCK_TIMEOUT'
  /** The caller's signal ended the wait. */
  | 'LOCK_ABORTED'
  /** The hold is gone, or will be before it can be renewed: stop writing. */
  | 'LOCK_LOST'
  /** This lease was released already. */
  | 'LOCK_NOT_HELD'
  /** The `Locks` were closed. */
  | 'LOCK_CLOSED'
  /** The caller would wait for itself; or, with `detect`, in a ring with others. */
  | 'LOCK_DEADLOCK'
  /** A guard has seen a newer token. */
  | 'LOCK_FENCED'
  /** The engine could not be asked; whatever it may have done is cleaned up. */
  | 'LOCK_UNAVAILABLE'
  /** This engine cannot do that, or its driver is not installed. */
  | 'LOCK_UNSUPPORTED'
  /** A bad key, duration, number or option. */
  | 'LOCK_INVALID';

export interface LockErrorDetails {
  readonly key?: string;
  readonly backend?: string;
  readonly cause?: unknown;
}

/** Seen by every copy of the package, where `instanceof` sees only its own. */
const BRAND = Symbol.for('holdfast.LockError');

/**
 * Every error holdfast throws. `code` is stable; the message says what was asked, of what, and what to do.
 * @example
 * await locks.mutex('order:42').run(() => work(), { wait: '2s' }).catch((error) => {
 *   if (error instanceof LockError && error.code === 'LOCK_TIMEOUT') return 'busy';
 *   throw error;
 * });
 */
export class LockError extends Error {
  /** Of every error of this class. */
  override readonly name = 'LockError';
  /** Why, for programs to compare. */
  readonly code: LockErrorCode;
  // Declared only: what is not known is not there, in the types as in what is printed.
  /** The key that it is about, if it is about one. */
  declare readonly key?: string;
  /** The engine that it is about, if it is about one. */
  declare readonly backend?: string;

  constructor(code: LockErrorCode, message: string, details: LockErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    if (details.key !== undefined) this.key = details.key;
    if (details.backend !== undefined) this.backend = details.backend;
  }

  get [BRAND](): true {
    return true;
  }
}

/**
 * Whether `error` is holdfast's, of `code` if given; true across copies of the package.
 * @example
 * await using lease = await locks.mutex('order:42').acquire();
 * try {
 *   lease.assertHeld();
 * } catch (error) {
 *   if (!isLockError(error, 'LOCK_LOST')) throw error;
 * }
 */
export function isLockError(error: unknown, code?: LockErrorCode): error is LockError {
  return (
    typeof error === 'object' &&
    error !== null &&
    (error as { [BRAND]?: unknown })[BRAND] === true &&
    (code === undefined || (error as LockError).code === code)
  );
}

export const invalid = (message: string, key?: string): LockError => new LockError('LOCK_INVALID', message, { key });

/** How a value is shown in a message: short, quoted, never a whole object. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined)
    return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** A key or a name as a message shows it. */
export const quoted = (key: string): string => JSON.stringify(key.length > 80 ? `${key.slice(0, 77)}…` : key);

/** The message of a cause, without a full stop of its own: a sentence follows. */
export const reasonOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).replace(/[.\s]+$/, '');
