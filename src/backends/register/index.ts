export type { RegisterEntry, RegisterStore, Written } from '../../core/contract/register-store.ts';
export { register } from './backend.ts';
export type { RegisterOptions } from './options.ts';
