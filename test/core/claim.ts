import { EXCLUSIVE } from '../../src/core/contract/admission.ts';
import type { Claim } from '../../src/core/contract/backend.ts';

/** A claim of a mutex that waits in line. */
export const claim = (id: string, wish: Partial<Claim> = {}): Claim => ({
  ...EXCLUSIVE,
  key: 'key',
  id,
  label: '',
  ttl: 1_000,
  queue: true,
  tokenCount: 1,
  within: 1_000,
  ...wish,
});
