import { invalid } from '../../core/errors.ts';
import type { EngineUrl } from '../engine.ts';

export const fileUrl: EngineUrl = {
  schemes: ['file'],
  example: 'file:./locks.db',
  params: ['durability', 'prefix'],
  async open({ path, params }) {
    if (path === '') throw invalid('file: needs a path, as in file:./locks.db');
    const { file } = await import('../../backends/file/index.ts');
    const durability = params.get('durability') ?? undefined;
    return file({
      path,
      durability: durability as 'process' | 'power' | undefined,
      prefix: params.get('prefix') ?? undefined,
    });
  },
};
