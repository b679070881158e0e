import type { Backend } from '../core/contract/backend.ts';
import { systemClock } from '../core/contract/clock.ts';
import { withLimit } from '../core/contract/promises.ts';
import type { Address } from './url.ts';
import { unreachable } from './url.ts';

/** How `connect` opens one kind of address. */
export interface EngineUrl {
  readonly schemes: readonly string[];
  /** For messages and for the documentation. */
  readonly example: string;
  /** The ports that servers of this kind have by default, each with the scheme to suggest for it. */
  readonly ports?: Readonly<Record<number, string>>;
  /** How a server refuses a user or a password: the codes of the driver's errors, or how their messages begin. */
  readonly denials?: readonly (string | RegExp)[];
  /** The parameters behind the `?`; `any` where the driver reads the URL itself, and refuses unknown parameters. */
  readonly params: readonly string[] | 'any';
  open(address: Address): Promise<OpenEngine>;
}

export interface OpenEngine {
  readonly backend: Backend;
  /** Settles when the server has answered, or has not answered in time. */
  readonly reached: Promise<void>;
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
 * Asks the server to release a lock that nobody holds. That leaves nothing behind on any engine, and shows that the address, the
 * password and the rights are good.
 * @param end ends the connection of the backend
 * @param connected where connecting is a step of its own
 */
export function openEngine(
  address: Address,
  backend: Backend,
  end?: () => unknown,
  connected: Promise<unknown> = Promise.resolve(),
): OpenEngine {
  const probe = () => withConnectLimit(backend.release({ key: 'connect', id: systemClock.id() }));
  const reached = connected.then(probe).then(
    () => {},
    (error) => {
      throw unreachable(address, error);
    },
  );
  reached.catch(() => {}); // of several engines a majority is enough
  return { backend: end ? owning(backend, end) : backend, reached };
}

/** Limit for opening a connection, ms. */
export const CONNECT_WITHIN = 5_000;

/** The result of `promise`, or an error after `within` ms: a stopped server accepts connections and never answers. */
export const withConnectLimit = <T>(promise: Promise<T>, within: number = CONNECT_WITHIN): Promise<T> =>
  withLimit(promise, within, () => new Error(`no answer within ${within} ms`), systemClock);
