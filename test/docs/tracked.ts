/** What blocks import as `holdfast`: the same, and their locks can be closed although a block fails before it does. */
import { createLocks as create, type Locks } from '../../src/index.ts';

export * from '../../src/index.ts';

const made: Locks[] = [];

export const createLocks: typeof create = (...args) => {
  const locks = create(...args);
  made.push(locks);
  return locks;
};

export async function closeAll(): Promise<void> {
  for (const locks of made.splice(0)) await locks.close();
}
