import type { Backend } from '../core/backend.ts';
import type { Address } from './url.ts';

/** How `connect` opens one kind of address. */
export interface EngineUrl {
  /** Schemes of its URLs. */
  readonly schemes: readonly string[];
  /** An example, for messages and for the documentation. */
  readonly example: string;
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
