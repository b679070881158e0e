import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { Shell } from './cli/shell.ts';
import { temporaryFolder } from './kit/folder.ts';
import { packed } from './kit/packed.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name: string): string => join(root, 'node_modules', name);
const run = promisify(execFile);

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { types: string }>;
};
/** What stands on a peer (Nest) is used by the tests of that. */
const subpaths = Object.keys(manifest.exports)
  .filter((name) => name !== './package.json' && !name.startsWith('./nestjs'))
  .map((name) => `holdfast${name.slice(1)}`);

/** A project that has installed the tarball, and of the peers only the API of OpenTelemetry, which `holdfast/otel` stands on. */
describe('the package, as it is installed', () => {
  const folder = temporaryFolder();
  const project = join(folder.path, 'project');
  const write = (name: string, text: string): void => writeFileSync(join(project, name), text);
  let inside: readonly string[] = [];

  beforeAll(async () => {
    mkdirSync(project);
    const { tarball, files } = await packed(folder.path);
    inside = files;
    write('package.json', '{ "private": true }');
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', tarball], {
      cwd: project,
    });
    mkdirSync(join(project, 'node_modules/@opentelemetry'), { recursive: true });
    symlinkSync(bin('@opentelemetry/api'), join(project, 'node_modules/@opentelemetry/api'));
    return () => folder[Symbol.dispose]();
  }, 120_000);

  test('is loaded by import, every subpath of it', async () => {
    write('all.mjs', subpaths.map((name, i) => `import * as m${i} from '${name}';`).join('\n'));
    await run(process.execPath, ['all.mjs'], { cwd: project });
  });

  test('is loaded by require, every subpath of it', async () => {
    write('all.cjs', subpaths.map((name) => `require('${name}');`).join('\n'));
    await run(process.execPath, ['--disable-warning=ExperimentalWarning', 'all.cjs'], { cwd: project });
  });

  test('takes a lock in a file', async () => {
    const lines = [
      "import { connect } from 'holdfast/connect';",
      "const locks = await connect('file:locks.db');",
      "console.log(await locks.mutex('order').run((lease) => String(lease.token)));",
      'await locks.close();',
    ];
    write('lock.mjs', lines.join('\n'));
    const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', 'lock.mjs'], {
      cwd: project,
    });
    expect(stdout).toBe('1\n');
  });

  test('has types for every subpath', async () => {
    write('all.mts', subpaths.map((name, i) => `import * as m${i} from '${name}';\nexport { m${i} };`).join('\n'));
    const options = ['--module', 'nodenext', '--moduleResolution', 'nodenext', '--target', 'es2022', '--strict'];
    const more = ['--noEmit', '--types', 'node', '--typeRoots', bin('@types'), 'all.mts'];
    const { stdout } = await run(bin('.bin/tsc'), [...options, ...more], { cwd: project }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });

  test('brings the page of all locks, made, with the licences of what is in it', async () => {
    const main = join(project, 'node_modules/holdfast/dist/cli/main.js');
    await using ui = new Shell(process.execPath, [main, 'ui', '--url', 'file:locks.db'], { cwd: project });
    await ui.prints(/It shows/, 20_000);
    const address = /http:\S+/.exec(ui.stdout)![0];
    expect(await (await fetch(address)).text()).toContain('<div id="page">');
    const script = await (await fetch(`${address}page.js`)).text();
    expect(script).toMatch(/preact \d+[\s\S]*Permission is hereby granted/);
    expect(script.length, 'made small').toBeLessThan(100_000);
  });

  test('brings neither its sources nor its tests', () => {
    expect(inside.filter((path) => /^(src|test|bench|models|scripts)\//.test(path))).toEqual([]);
    expect(inside).toContain('dist/cli/holdfast');
  });
});
