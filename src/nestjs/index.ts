export type { IdempotencyOptions } from '../idempotency/options.ts';
export { Locks } from '../locks.ts';
export { type HealthOptions, type LocksHealth, type LocksHealthDetail, LocksHealthIndicator } from './health.ts';
export { Idempotent } from './idempotent.ts';
export { Leading, type LeadingDecorator } from './leading.ts';
export {
  InjectLocks,
  LocksModule,
  type LocksModuleAsyncOptions,
  type LocksOptionsFactory,
  type Visibility,
} from './module.ts';
export type { LocksModuleOptions } from './options.ts';
