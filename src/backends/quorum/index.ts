export { quorum } from './backend.ts';
export { QUORUM_OPTIONS, type QuorumOptions } from './options.ts';
