import type { Durability } from '../../backends/file/index.ts';
import { memory } from '../../backends/memory.ts';
import { invalid } from '../../core/index.ts';
import { type EngineUrl, openEngine } from '../engine.ts';
import { pick } from '../url.ts';

export const memoryUrl: EngineUrl = {
  schemes: ['memory'],
  example: 'memory:',
  params: [],
  open: async (address) => openEngine(address, memory()),
};

export const fileUrl: EngineUrl = {
  schemes: ['file'],
  example: 'file:./locks.db',
  params: ['durability', 'prefix'],
  async open(address) {
    const { path, params, hosts } = address;
    if (hosts.some(({ host }) => host !== 'localhost')) {
      throw invalid('file:// names a host before the path; write file:///absolute/path or file:relative/path');
    }
    if (path === '') throw invalid('file: needs a path, as in file:./locks.db');
    const { file } = await import('../../backends/file/index.ts');
    const durability = (params.get('durability') ?? undefined) as Durability | undefined;
    return openEngine(address, file({ path, durability, ...pick(address, 'prefix') }));
  },
};
