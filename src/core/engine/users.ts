import { ofAllCopies } from '../contract/all-copies.ts';
import type { Backend } from '../contract/backend.ts';

/** How many use a backend: several `Locks` of one process may, and a quorum whose node it is. */
const users = ofAllCopies('users', () => new WeakMap<Backend, number>());

/** One more uses it. */
export function addUser(backend: Backend): void {
  users.set(backend, (users.get(backend) ?? 0) + 1);
}

/** One less uses it. The last one closes it: with its connections the holds of all others would end. */
export async function removeUser(backend: Backend): Promise<void> {
  const others = (users.get(backend) ?? 1) - 1;
  users.set(backend, others);
  if (others <= 0) await backend.close();
}
