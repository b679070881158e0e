import type { Claim } from '../../../src/core/contract/backend.ts';
import { claim as claimOf } from '../../core/claim.ts';

/** A claim of a mutex that waits in line, and has a minute for everything. */
export const claim = (id: string, wish: Partial<Claim> = {}): Claim =>
  claimOf(id, { key: 'k', ttl: 60_000, within: 60_000, label: id, ...wish });
