import type { Backend } from '../core/backend.ts';
import { systemClock } from '../core/clock.ts';
import { bounded } from './bounded.ts';
import type { Address } from './url.ts';
import { unreachable } from './url.ts';

/** How `connect` opens one kind of address. */
export interface EngineUrl {
  /** Schemes of its URLs. */
  readonly schemes: readonly string[];
  /** An example, for messages and for the documentation. */
  readonly example: string;
  /** What may stand behind the `?`; `any` where the driver reads its URL itself, and refuses what it does not know. */
  readonly params: readonly string[] | 'any';
  open(address: Address): Promise<Opened>;
}

export interface Opened {
  readonly backend: Backend;
  /** Settled when the server has answered, or not in time. */
  readonly reached: Promise<void>;
}

/** A backend that also ends the connection that was opened for it. */
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
 * The server is asked to release what nobody holds: that leaves nothing behind on any engine, and shows the address, the
 * password and the rights to be good.
 * @param connected where connecting is a step of its own
 */
export function opened(address: Address, backend: Backend, connected: Promise<unknown> = Promise.resolve()): Opened {
  const probe = () => bounded(backend.release({ key: 'connect', id: systemClock.id() }));
  const reached = connected.then(probe).then(
    () => {},
    (error) => {
      throw unreachable(address, error);
    },
  );
  reached.catch(() => {}); // where several are opened, a majority is enough
  return { backend, reached };
}
