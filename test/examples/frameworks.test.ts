import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { program, started } from './program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Ten drivers tap at once. */
async function grabs(url: string): Promise<number[]> {
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) => fetch(`${url}/grab/42?driver=${i}`, { method: 'POST' })),
  );
  return answers.map(({ status }) => status).sort();
}
const ONE_WINNER = [201, ...Array<number>(9).fill(409)];

describe('nestjs, with legacy decorators', () => {
  test('its types are right', async () => {
    await promisify(execFile)(program('tsc'), ['-p', `${root}examples/nestjs/tsconfig.json`]);
  });

  test('of ten who want one order, one has it; a locked route is still a route', async () => {
    // Inside the project, so that the packages are found from there.
    const folder = `${root}.tmp/nestjs-${process.pid}`;
    mkdirSync(folder, { recursive: true });
    try {
      await build({
        entryPoints: [`${root}examples/nestjs/main.ts`],
        outfile: `${folder}/main.mjs`,
        bundle: true,
        platform: 'node',
        format: 'esm',
        packages: 'external',
        logLevel: 'error',
      });
      await using app = await started([`${folder}/main.mjs`]);
      expect(await grabs(app.url)).toEqual(ONE_WINNER);
      const reports = await Promise.all([1, 2].map(() => fetch(`${app.url}/report`, { method: 'POST' })));
      expect((await Promise.all(reports.map((report) => report.text()))).sort()).toEqual(['', '{"done":true}']);
      await app.ended('SIGTERM');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
