export type { Fence } from './fence.ts';
export { type MemoryFence, memoryFence } from './memory.ts';
