import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { NEEDS, type Need } from '../kit/programs.ts';
import { describeOn } from '../kit/suite.ts';

const root = join(import.meta.dirname, '..', '..');

for (const need of ['site', 'orms'] as const satisfies Need[])
  describeOn(need, `the private package ${NEEDS[need].folder}`, () => {
    test('compiles by the rules of the whole', async () => {
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      const run = promisify(execFile)(process.execPath, [tsc, '-p', NEEDS[need].folder], { cwd: root });
      expect(
        await run.then(
          () => '',
          ({ stdout }) => stdout,
        ),
      ).toBe('');
    });
  });
