import { execFile, execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { nameOfSources } from '../scripts/sources.mjs';
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

test('workflows take others by digest, and say which version that is', () => {
  const taken = globSync('.github/workflows/*.yml', { cwd: root }).flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/uses:.*/g)].map(([line]) => `${path}: ${line}`),
  );
  expect(taken.length).toBeGreaterThan(0);
  expect(taken.filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
});
