export { file } from './backend.ts';
export type { FileOptions } from './options.ts';
export type { Durability } from './store.ts';
