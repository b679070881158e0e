import { LockError } from '../core/contract/errors.ts';

interface Drivers {
  readonly ioredis: typeof import('ioredis');
  readonly pg: typeof import('pg');
  readonly mysql2: typeof import('mysql2/promise');
  readonly mongodb: typeof import('mongodb');
  readonly '@aws-sdk/client-s3': typeof import('@aws-sdk/client-s3');
  readonly '@aws-sdk/client-dynamodb': typeof import('@aws-sdk/client-dynamodb');
  readonly '@aws-sdk/lib-dynamodb': typeof import('@aws-sdk/lib-dynamodb');
  readonly '@nats-io/transport-node': typeof import('@nats-io/transport-node');
  readonly '@nats-io/kv': typeof import('@nats-io/kv');
}

/**
 * Loads a driver when it is needed: the package itself depends on none. Each import is inside the `try`, so bundlers know that it may be
 * missing. Otherwise they would refuse to bundle an application without all of them.
 * @throws LockError `LOCK_UNSUPPORTED`, which says what to install
 */
export async function driver<N extends keyof Drivers>(name: N): Promise<Drivers[N]> {
  const loaded = await load(name);
  // Node does not see the names of an older pg, nor an older webpack those of ioredis: what is exported there is no plain object. A
  // compiler to CommonJS (Jest) gives just that, without `default`.
  const isWhole = Object.keys(loaded).every((key) => key === 'default' || key === 'module.exports');
  return (isWhole ? (loaded as { default: object }).default : loaded) as Drivers[N];
}

async function load(name: keyof Drivers): Promise<object> {
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
      case '@aws-sdk/client-s3':
        return await import('@aws-sdk/client-s3');
      case '@aws-sdk/client-dynamodb':
        return await import('@aws-sdk/client-dynamodb');
      case '@aws-sdk/lib-dynamodb':
        return await import('@aws-sdk/lib-dynamodb');
      case '@nats-io/transport-node':
        return await import('@nats-io/transport-node');
      case '@nats-io/kv':
        return await import('@nats-io/kv');
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
