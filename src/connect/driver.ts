import { LockError } from '../core/contract/errors.ts';

interface Drivers {
  readonly ioredis: typeof import('ioredis');
  readonly pg: typeof import('pg');
  readonly mysql2: typeof import('mysql2/promise');
  readonly mongodb: typeof import('mongodb');
}

/**
 * Loads a driver when it is needed: the package itself depends on none. Each import is inside the `try`, so bundlers know that it may be
 * missing. Otherwise they would refuse to bundle an application without all of them.
 * @throws LockError `LOCK_UNSUPPORTED`, which says what to install
 */
export async function driver<N extends keyof Drivers>(name: N): Promise<Drivers[N]>;
export async function driver(name: keyof Drivers): Promise<object> {
  try {
    switch (name) {
      case 'ioredis':
        return await import('ioredis');
      case 'pg':
        return await import('pg');
      case 'mysql2':
        return await import('mysql2/promise');
      case 'mongodb':
        return await import('mongodb');
    }
  } catch (cause) {
    // Without ERR_ the code comes from a bundler.
    if (!/^(ERR_)?MODULE_NOT_FOUND$/.test(String((cause as { code?: unknown }).code))) throw cause;
    throw new LockError(
      'LOCK_UNSUPPORTED',
      `this URL needs the package ${name}, which is not installed: npm install ${name}`,
      { cause },
    );
  }
}
