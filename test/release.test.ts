import { execFile, execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { nameOfLock, nameOfSources } from '../scripts/code-name.mjs';
import { temporaryFolder } from './kit/folder.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const SCRIPT = join(root, 'scripts/publishable.mjs');

describe('what is published', () => {
  const WHOLE = { version: '1.2.3', repository: 'a', homepage: 'b', bugs: 'c' };

  const rowOf = (sources: string): string =>
    `| [Torture](torture.md) | redis | 7 holds | nothing | 2026-01-02, ${sources} |`;

  async function complaints(manifest: object, args: string[] = [], row = rowOf(nameOfSources())): Promise<string> {
    using folder = temporaryFolder();
    const [path, evidence] = [join(folder.path, 'package.json'), join(folder.path, 'evidence.md')];
    writeFileSync(path, JSON.stringify(manifest));
    writeFileSync(evidence, `${row}\n`);
    const { stderr } = await promisify(execFile)(process.execPath, [
      SCRIPT,
      '--manifest',
      path,
      '--evidence',
      evidence,
      ...args,
    ]).catch((error: { stderr: string }) => error);
    return stderr;
  }

  test.each(['repository', 'homepage', 'bugs'])('is refused without %s', async (name) => {
    expect(await complaints({ ...WHOLE, [name]: undefined })).toContain(`package.json has no ${name}.`);
  });

  test('is refused under a tag of another version', async () => {
    expect(await complaints(WHOLE, ['--tag', 'v1.2.4'])).toContain('The tag v1.2.4 is not v1.2.3');
    expect(await complaints(WHOLE, ['--tag', 'v1.2.3'])).toBe('');
  });

  test('is refused while a row of the evidence is of other sources, or of more than these', async () => {
    expect(await complaints(WHOLE)).toBe('');
    for (const sources of ['01234567', `01234567, ${nameOfSources()}, 89abcdef`])
      expect(await complaints(WHOLE, [], rowOf(sources))).toMatch(/^Torture in docs\/evidence\.md was not run on/);
  });

  test('is asked for before each publication', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(scripts.prepublishOnly).toBe('node scripts/publishable.mjs');
    // npm runs no script for a tarball.
    expect(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8')).toContain('node scripts/publishable.mjs');
  });

  test('stands on no package: its bill of materials is empty', { timeout: 60_000 }, () => {
    const omit = ['dev', 'optional', 'peer'].flatMap((kind) => ['--omit', kind]);
    const args = ['sbom', ...omit, '--package-lock-only', '--sbom-format', 'cyclonedx'];
    const { components } = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8' })) as {
      components: unknown[];
    };
    expect(components).toEqual([]);
  });
});

test('the name of the sources changes with their code, not with comments, types and blanks; that of the lock not with an adapter', () => {
  using folder = temporaryFolder();
  const put = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder.path, file)), { recursive: true });
    writeFileSync(join(folder.path, file), text);
    execFileSync('git', ['add', '.'], { cwd: folder.path });
  };
  const names = () => [nameOfSources(folder.path), nameOfLock(folder.path)];
  execFileSync('git', ['init', '--quiet'], { cwd: folder.path });
  const [core, script, adapter] = ['src/core/index.ts', 'src/backends/redis/lua/a.lua', 'src/nestjs/index.ts'];
  put(core, 'export const wait = 1;');
  put(script, 'return 1');
  put(adapter, 'export const key = 1;');
  const [all, lock] = names();
  put(core, '/** How long. */\nexport const wait: number =\n  1; // ms');
  expect(names(), 'a comment').toEqual([all, lock]);
  put(adapter, 'export const key = 2;');
  expect(nameOfLock(folder.path), 'an adapter').toBe(lock);
  expect(nameOfSources(folder.path), 'an adapter').not.toBe(all);
  for (const [file, text] of [
    [core, 'export const wait = 2;'],
    [script, 'return 2'],
  ] as const) {
    const [before, lockBefore] = names();
    put(file, text);
    expect(nameOfSources(folder.path), file).not.toBe(before);
    expect(nameOfLock(folder.path), file).not.toBe(lockBefore);
  }
});

test('workflows take others by digest, and say which version that is', () => {
  const taken = globSync('.github/workflows/*.yml', { cwd: root }).flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/uses:.*/g)].map(([line]) => `${path}: ${line}`),
  );
  expect(taken.length).toBeGreaterThan(0);
  expect(taken.filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
});
