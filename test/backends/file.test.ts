import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll } from 'vitest';
import { file } from '../../src/backends/file/index.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { describeConformance, describeOn } from '../kit/suite.ts';

describeOn('file', 'a file', () => {
  const folder = temporaryFolder();
  const path = join(folder.path, 'locks.db');
  afterAll(() => folder[Symbol.dispose]());

  describeConformance(
    {
      name: 'file',
      open: async () => file({ path }),
      apart: async () => file({ path, prefix: 'apart' }),
      faults: {
        /** Somebody else is in a transaction, and stays there. */
        async stall() {
          const other = new DatabaseSync(path);
          other.exec('BEGIN IMMEDIATE');
          return async () => other.close();
        },
      },
    },
    'one by one',
  );
});
