import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROOFS } from '../prove/proofs.ts';

const root = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const fileOf = (name: string): string => scripts[name]!.split(' ').at(-1)!;
/** These two have no flags. */
const { 'known-bugs': _, picture: __, ...WITH_HELP } = PROOFS;
const PROGRAMS: readonly (readonly [name: string, file: string])[] = [
  ...['bench', 'prove'].map((name) => [`npm run ${name} `, fileOf(name)] as const),
  ...Object.entries(WITH_HELP).map(([name, file]) => [`npm run prove -- ${name}`, file] as const),
  ...['test/long/leading.ts', 'test/exploration/long.ts'].map((file) => [file, file] as const),
];

const run = (file: string, flag: string) =>
  spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', file, flag], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });

describe.each(PROGRAMS)('%s', (name, file) => {
  test('--help says how to call it, and names every flag', () => {
    const { status, stdout } = run(file, '--help');
    expect(status).toBe(0);
    expect(stdout).toContain(name);
    const source = readFileSync(join(root, file === fileOf('bench') ? 'bench/flags.ts' : file), 'utf8');
    const flags = [...source.matchAll(/^ {4,8}(\w+): \{ type: '/gm)].map(([, flag]) => flag!);
    expect(flags.length).toBeGreaterThan(0);
    for (const flag of flags) expect(stdout, flag).toContain(`--${flag}`);
  });

  test('a flag that it does not know ends it with 2 and how to call it, and nothing is begun', () => {
    const { status, stdout, stderr } = run(file, '--nonsense');
    expect(status).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('--nonsense');
    expect(stderr).toContain(name);
  });
});

test.each(Object.keys(WITH_HELP))('npm run prove -- %s is that program', (name) => {
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', fileOf('prove'), name, '--help'],
    { cwd: root, encoding: 'utf8', timeout: 60_000 },
  );
  expect(status).toBe(0);
  expect(stdout).toContain(`npm run prove -- ${name}`);
});
