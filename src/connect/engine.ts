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
  open(address: Address): Promise<Backend>;
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
 * The backend, once its server has answered. It is asked to release what nobody holds: that leaves nothing behind on any
 * engine, and shows the address, the password and the rights to be good.
 */
export async function answering(address: Address, backend: Backend): Promise<Backend> {
  try {
    await bounded(backend.release({ key: 'connect', id: systemClock.id() }));
    return backend;
  } catch (cause) {
    await bounded(backend.close()).catch(() => {});
    throw unreachable(address, cause);
  }
}
