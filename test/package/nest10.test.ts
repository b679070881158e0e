import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../kit/folder.ts';
import { packedPackage } from '../kit/packed.ts';
import { type Project, projectOf } from '../kit/project.ts';

const run = promisify(execFile);
/** The configuration is that of `nest new` of Nest 10, unchanged: CommonJS, the older module resolution, Jest. The sources use the package. */
const template = fileURLToPath(new URL('../nest10', import.meta.url));
const page = readFileSync(fileURLToPath(new URL('../../docs/guides/nestjs.md', import.meta.url)), 'utf8');
const env = { ...process.env, NODE_OPTIONS: '', NODE_ENV: undefined, VITEST: undefined, CI: undefined };

describe('a project as Nest 10 makes it, with the tarball', () => {
  const folder = temporaryFolder();
  let project: Project | undefined;
  beforeAll(async () => {
    const { tarball } = await packedPackage(folder.path);
    project = await projectOf(template, tarball);
    if (!project) return;
    for (const name of ['src', 'tsconfig.json', 'tsconfig.build.json'])
      cpSync(join(template, name), join(project.path, name), { recursive: true });
    cpSync(join(template, 'package.template.json'), join(project.path, 'package.json'));
  }, 400_000);
  afterAll(() => {
    project?.[Symbol.dispose]();
    folder[Symbol.dispose]();
  });

  /** A program of its packages. */
  const started = (program: string, ...args: readonly string[]): Promise<{ stdout: string; stderr: string }> =>
    run(process.execPath, [join(project!.path, '../node_modules', program), ...args], {
      cwd: project!.path,
      env,
    }).catch(({ stdout, stderr }) => {
      throw new Error(`${program} failed:\n${stdout}\n${stderr}`);
    });

  test('compiles and runs unchanged', { timeout: 120_000 }, async ({ skip }) => {
    if (!project) return skip();
    await started('typescript/bin/tsc', '-p', 'tsconfig.build.json');
    const main = ['--disable-warning=ExperimentalWarning', 'dist/main'];
    const { stdout } = await run(process.execPath, main, { cwd: project.path, env });
    expect(JSON.parse(stdout)).toEqual({ grabs: [true, false, false], busy: true });
  });

  test('runs its tests by Jest after the two edits of the page', { timeout: 120_000 }, async ({ skip }) => {
    if (!project) return skip();
    const edit = (name: string, change: (text: Record<string, object>) => void): void => {
      const path = join(project!.path, name);
      const json = JSON.parse(readFileSync(path, 'utf8'));
      change(json);
      writeFileSync(path, JSON.stringify(json));
    };
    const [, option] = /`"(\w+)": true` among the `compilerOptions`/.exec(page)!;
    const [, jest] = /in the `jest` of `package.json`\n\n```json\n(.*?)```/s.exec(page)!;
    edit('tsconfig.json', ({ compilerOptions }) => Object.assign(compilerOptions!, { [option!]: true }));
    edit('package.json', (manifest) => Object.assign(manifest.jest!, JSON.parse(jest!)));
    const { stderr } = await started('jest/bin/jest.js', '--ci');
    expect(stderr).toMatch(/Tests: +1 passed, 1 total/);
  });
});
