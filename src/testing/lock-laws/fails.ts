import assert from 'node:assert/strict';
import { isLockError, type LockError, type LockErrorCode } from '../../core/index.ts';

/**
 * Gives the error with which `work` must fail.
 * @param code a function where only the failure shows which code is right
 */
export async function fails(
  work: () => unknown,
  code: LockErrorCode | (() => LockErrorCode),
  what = 'this',
): Promise<LockError> {
  const due = (): LockErrorCode => (typeof code === 'function' ? code() : code);
  try {
    await work();
  } catch (error) {
    const expected = due();
    if (isLockError(error, expected)) return error;
    throw new assert.AssertionError({ message: `${what} must fail with ${expected}, but failed with ${error}` });
  }
  return assert.fail(`${what} must fail with ${due()}, and did not`);
}
