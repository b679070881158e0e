export type { RegisterEntry, RegisterStore, Written } from '../../core/index.ts';
export { register } from './backend.ts';
export type { RegisterOptions } from './options.ts';
