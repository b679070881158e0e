import { MAX_PLACE_TTL_MS, type Traits } from '../../core/index.ts';
import { MAX_VALUE_BYTES } from './record.ts';

const COUNTED = {
  units: 'counted',
  fair: true,
  placeTtl: MAX_PLACE_TTL_MS,
  values: { maxBytes: MAX_VALUE_BYTES },
} as const satisfies Partial<Traits>;

/** The traits of engines that store the queue of each key, with leases by their own clock. */
export const QUEUE_TRAITS = {
  ...COUNTED,
  fencing: 'durable',
  tokenBlocks: true,
  expires: true,
  lifetime: 'lease',
  renewedFrom: 'anywhere',
} as const satisfies Partial<Traits>;

/** The traits of engines whose server keeps a lock for as long as a session lives. */
export const SESSION_TRAITS = {
  fair: false,
  fencing: 'durable',
  tokenBlocks: false,
  wakes: 'watch',
  expires: false,
  lifetime: 'session',
} as const satisfies Partial<Traits>;

/** The traits of engines of a consensus cluster: the order of its writes makes the queue and the tokens. */
export const CONSENSUS_TRAITS = {
  ...COUNTED,
  fencing: 'always',
  tokenBlocks: false,
  wakes: 'watch',
} as const satisfies Partial<Traits>;
