import { LockError } from '../core/errors.ts';

interface Drivers {
  readonly ioredis: typeof import('ioredis');
  readonly pg: typeof import('pg');
  readonly mysql2: typeof import('mysql2/promise');
  readonly mongodb: typeof import('mongodb');
}

/**
 * A driver, loaded when it is needed: the package itself depends on none. Each import stands inside the `try`, by which
 * bundlers know that it may be missing; elsewhere they refuse to bundle an application that has not installed them all.
 * @throws LockError `LOCK_UNSUPPORTED`, saying what to install
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
    // Without the ERR_ it comes from what a bundler made of the import.
    if (!/^(ERR_)?MODULE_NOT_FOUND$/.test(String((cause as { code?: unknown }).code))) throw cause;
    throw new LockError(
      'LOCK_UNSUPPORTED',
      `this URL needs the package ${name}, which is not installed: npm install ${name}`,
      { cause },
    );
  }
}
