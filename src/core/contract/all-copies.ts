import type { Backend } from './backend.ts';

/** Makes one object for all copies of the package in this process. Their versions may differ, so the form of the object never changes. */
export function ofAllCopies<T extends object>(name: string, make: () => T): T {
  const known = globalThis as { [name: symbol]: T | undefined };
  const symbol = Symbol.for(`holdfast.${name}`);
  known[symbol] ??= make();
  return known[symbol];
}

/** The number of users of each backend: `Locks` of this process, and quorums of which the backend is a node. */
const users = ofAllCopies('users', () => new WeakMap<Backend, number>());

/** Counts one more user of the backend. */
export function addUser(backend: Backend): void {
  users.set(backend, (users.get(backend) ?? 0) + 1);
}

/** Whether the backend has users. */
export const isInUse = (backend: Backend): boolean => (users.get(backend) ?? 0) > 0;

/** Counts one user less, and closes the backend after the last user. An earlier close would end the holds of the other users. */
export async function removeUser(backend: Backend): Promise<void> {
  const others = (users.get(backend) ?? 1) - 1;
  users.set(backend, others);
  if (others <= 0) await backend.close();
}
