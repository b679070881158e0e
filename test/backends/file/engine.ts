import { join } from 'node:path';
import { urlOfFile } from '../../../src/connect/url.ts';
import type { EngineRow } from '../../kit/engine-row.ts';
import { temporaryFolder } from '../../kit/folder.ts';

export const engine: EngineRow = {
  needs: [],
  sites: {
    file: {
      async start() {
        const folder = temporaryFolder();
        const url = urlOfFile(join(folder.path, 'locks.db'));
        return { url, ports: [], [Symbol.asyncDispose]: async () => folder[Symbol.dispose]() };
      },
    },
  },
  async options() {
    const { file } = await import('../../../src/backends/file/index.ts');
    return { file: { call: (options) => file(options), needs: { path: '/nowhere/locks.db' } } };
  },
};
