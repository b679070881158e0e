import { execFile } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

export interface Packed {
  /** Its path. */
  readonly tarball: string;
  /** What is in it. */
  readonly files: readonly string[];
}

/** Makes the package in a folder, as `npm pack` does, from what is in the sources now; `dist` of the repository is left as it is. */
export async function packed(folder: string): Promise<Packed> {
  const built = join(folder, 'package');
  mkdirSync(built);
  await run(join(root, 'node_modules/.bin/tsc'), [
    ...['-p', join(root, 'tsconfig.build.json')],
    ...['--outDir', join(built, 'dist')],
  ]);
  await run(process.execPath, [join(root, 'scripts/build-page.mjs'), join(built, 'dist/ui/page')]);
  cpSync(join(root, 'src/cli/holdfast'), join(built, 'dist/cli/holdfast'));
  for (const name of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'docs'])
    cpSync(join(root, name), join(built, name), { recursive: true });
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts'], { cwd: built });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return { tarball: join(built, filename), files: files.map(({ path }) => path) };
}
