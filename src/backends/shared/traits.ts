import { MAX_PLACE_TTL_MS, type Traits } from '../../core/index.ts';
import { LONGEST_WORDS } from './record.ts';

/** An engine that keeps the queue of each key itself, with leases by its own clock. */
export const QUEUE_TRAITS = {
  units: 'counted',
  fair: true,
  fencing: 'durable',
  tokenBlocks: true,
  expires: true,
  lifetime: 'lease',
  renewedFrom: 'anywhere',
  placeTtl: MAX_PLACE_TTL_MS,
  values: { maxBytes: LONGEST_WORDS },
} as const satisfies Partial<Traits>;

/** An engine whose server keeps a lock for as long as a session lives. */
export const SESSION_TRAITS = {
  fair: false,
  fencing: 'durable',
  tokenBlocks: false,
  wakes: 'watch',
  expires: false,
  lifetime: 'session',
} as const satisfies Partial<Traits>;
