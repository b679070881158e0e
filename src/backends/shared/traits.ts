import { MAX_PLACE_TTL_MS, type Traits } from '../../core/index.ts';
import { MAX_VALUE_BYTES } from './record.ts';

const COUNTED = {
  units: 'counted',
  fair: true,
  placeTtl: MAX_PLACE_TTL_MS,
  values: { maxBytes: MAX_VALUE_BYTES },
} as const satisfies Partial<Traits>;

/** The traits of engines that store the queue of each key, with a lease for each hold. */
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

/** The traits of engines on a consensus cluster: the order of the cluster's writes is the order of the queue and of the tokens. */
export const CONSENSUS_TRAITS = {
  ...COUNTED,
  fencing: 'always',
  tokenBlocks: false,
  wakes: 'watch',
} as const satisfies Partial<Traits>;
