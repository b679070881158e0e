import { expect } from 'vitest';
import type { Locks } from '../../src/index.ts';

/** Loads what runs memos: a clock that is moved does not wait for that. */
export async function loaded(locks: Locks): Promise<Locks> {
  await expect(locks.memo('loaded').run(undefined as never)).rejects.toThrow();
  return locks;
}
