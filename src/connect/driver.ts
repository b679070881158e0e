import { LockError } from '../core/errors.ts';

/**
 * A driver, loaded when it is needed: the package itself depends on none.
 * @throws LockError `LOCK_UNSUPPORTED`, saying what to install
 */
export async function driver<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new LockError(
      'LOCK_UNSUPPORTED',
      `this URL needs the package ${name}, which is not installed: npm install ${name}`,
      { cause },
    );
  }
}
