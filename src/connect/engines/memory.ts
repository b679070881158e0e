import { memory } from '../../backends/memory.ts';
import { type EngineUrl, openEngine } from '../engine.ts';

export const memoryUrl: EngineUrl = {
  schemes: ['memory'],
  example: 'memory:',
  params: [],
  open: async (address) => openEngine(address, memory()),
};
