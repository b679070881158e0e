import type { EngineRow } from '../../kit/engine-row.ts';

export const engine: EngineRow = {
  needs: [],
  async options() {
    const { memory } = await import('../../../src/backends/memory.ts');
    return { memory: { call: (options) => memory(options) } };
  },
};
