export { quorum } from './backend.ts';
export type { QuorumOptions } from './options.ts';
