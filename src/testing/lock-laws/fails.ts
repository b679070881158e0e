import assert from 'node:assert/strict';
import { isLockError, type LockError, type LockErrorCode } from '../../core/errors.ts';

/** Gives the error with which `work` must fail. */
export async function fails(work: () => unknown, code: LockErrorCode, what = 'this'): Promise<LockError> {
  try {
    await work();
  } catch (error) {
    if (isLockError(error, code)) return error;
    throw new assert.AssertionError({ message: `${what} must fail with ${code}, but failed with ${error}` });
  }
  return assert.fail(`${what} must fail with ${code}, and did not`);
}
