import { memory } from '../../backends/memory.ts';
import { type EngineUrl, opened } from '../engine.ts';

export const memoryUrl: EngineUrl = {
  schemes: ['memory'],
  example: 'memory:',
  params: [],
  open: async (address) => opened(address, memory()),
};
