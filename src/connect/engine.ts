import { type Backend, LockError, systemClock, withLimit } from '../core/index.ts';
import { type Address, unreachable } from './url.ts';

/** How `connect` opens one kind of address. */
export interface EngineUrl {
  readonly schemes: readonly string[];
  /** An example URL, for messages and the documentation. */
  readonly example: string;
  /** The ports that servers of this kind have by default, each with the scheme to suggest for it. */
  readonly ports?: Readonly<Record<number, string>>;
  /** The codes of the driver's errors for a user or a password that the server refuses, or how their messages begin. */
  readonly denials?: readonly (string | RegExp)[];
  /** The parameters after the `?`; `any` if the driver itself reads the URL, and refuses unknown parameters. */
  readonly params: readonly string[] | 'any';
  open(address: Address): Promise<OpenEngine>;
  /** Gives the SQL that the first use would run, for a migration. */
  setupScript?(address: Address): Promise<string>;
}

export interface OpenEngine {
  readonly backend: Backend;
  /** Settles when the server has answered, or has not answered in time. */
  readonly reached: Promise<unknown>;
}

/** Makes a backend that also ends the connection that was opened for it. */
export function owning(backend: Backend, end: () => unknown): Backend {
  const close = backend.close.bind(backend);
  backend.close = async () => {
    try {
      await close();
    } finally {
      await end();
    }
  };
  return backend;
}

/**
 * Asks the server to release a lock that nobody holds. The release leaves nothing behind on any engine, and shows that the address, the
 * password and the rights are good.
 * @param end ends the connection of the backend
 * @param connected settles when the driver has connected, if it connects in a step of its own
 */
export function openEngine(
  address: Address,
  backend: Backend,
  end?: () => unknown,
  connected: Promise<unknown> = Promise.resolve(),
): OpenEngine {
  const probe = () => withConnectLimit(backend.release({ key: 'connect', id: systemClock.id() }));
  const reached = connected.then(probe).catch((error) => {
    throw unreachable(address, error);
  });
  reached.catch(() => {}); // ignored: of several engines a majority is enough
  return { backend: end ? owning(backend, end) : backend, reached };
}

/** Limit for opening a connection, ms. */
export const CONNECT_LIMIT_MS = 5_000;

/** The result of `promise`, or an error after `within` ms: a stopped server accepts connections and never answers. */
export const withConnectLimit = <T>(promise: Promise<T>, within: number = CONNECT_LIMIT_MS): Promise<T> =>
  withLimit(promise, within, () => new Error(`no answer within ${within} ms`), systemClock);

/** Makes a quorum of several engines, which is reached when a majority of them is reached. */
export async function several(opening: readonly Promise<OpenEngine>[]): Promise<OpenEngine> {
  const results = await Promise.allSettled(opening);
  const nodes = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  try {
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    const { quorum } = await import('../backends/quorum/index.ts');
    const reached = majorityReached(nodes);
    reached.catch(() => {}); // ignored: the caller waits for `reached`
    return { backend: quorum(nodes.map(({ backend }) => backend)), reached };
  } catch (error) {
    await Promise.allSettled(nodes.map(({ backend }) => withConnectLimit(backend.close())));
    throw error;
  }
}

/** Settles as soon as a majority is reached, or can no longer be reached. */
function majorityReached(nodes: readonly OpenEngine[]): Promise<void> {
  const needed = Math.floor(nodes.length / 2) + 1;
  return new Promise((resolve, reject) => {
    let reached = 0;
    const failures: Error[] = [];
    const succeed = (): void => void (++reached === needed && resolve());
    const fail = (error: Error): void => {
      if (failures.push(error) === nodes.length - needed + 1) reject(tooFew(nodes.length, needed, failures));
    };
    for (const node of nodes) node.reached.then(succeed, fail);
  });
}

const tooFew = (count: number, needed: number, failures: readonly Error[]): LockError =>
  new LockError(
    'LOCK_UNAVAILABLE',
    `${needed} of ${count} servers are needed, and these could not be reached: ${failures.map(({ message }) => message).join('; ')}`,
    { cause: new AggregateError(failures) },
  );

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
 * Loads a driver when it is needed: the package itself depends on none. Each import is inside the `try`, so bundlers know that the driver may be
 * missing. Otherwise they would refuse to bundle an application that lacks one.
 * @throws LockError `LOCK_UNSUPPORTED`, which says what to install
 */
export async function driver<N extends keyof Drivers>(name: N): Promise<Drivers[N]> {
  const loaded = await load(name);
  // Node finds no named exports in an older pg, and an older webpack finds none in ioredis: then all exports are in `default`. A compiler to
  // CommonJS (Jest) gives the names, without `default`.
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
    // In a bundle, the error's code has no ERR_.
    if (!/^(ERR_)?MODULE_NOT_FOUND$/.test(String((cause as { code?: unknown }).code))) throw cause;
    throw new LockError(
      'LOCK_UNSUPPORTED',
      `this URL needs the package ${name}, which is not installed: npm install ${name}`,
      { cause },
    );
  }
}
