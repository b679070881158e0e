import { spawnSync } from 'node:child_process';
import { realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gateScript, removedVariables } from '../../products/cli/child/start.ts';
import { Desk, hasTerminal, MAIN, Shell } from './shell.ts';

/** `unshare` needs rights that not everybody has: in a mount namespace of its own a shell can be missing. */
const canHide = process.platform === 'linux' && spawnSync('unshare', ['-m', 'true']).status === 0;
const shells = (...names: string[]): string[] => [
  ...new Set(names.flatMap((name) => ['/bin', '/usr/bin'].map((folder) => join(folder, name))).flatMap(real)),
];

function real(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

describe.runIf(canHide)('on a machine', () => {
  let desk: Desk;
  beforeAll(() => {
    desk = new Desk({ 'spring.profiles.active': 'prod', 'two.lines': "it's\nthe second $HOME" });
  });
  afterAll(() => desk[Symbol.dispose]());

  /** The command line where these files are no programs. */
  const without = (hidden: readonly string[], words: readonly string[], terminal = false): Shell => {
    const hide = hidden.map((path) => `mount --bind /dev/null ${path}`).join(' && ');
    const line = ['-m', 'bash', '-c', `${hide} && exec "$@"`, 'bash', process.execPath, MAIN, ...words];
    const quoted = ['unshare', ...line].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    const options = { env: { ...desk.env, SHELL: '/bin/bash' }, cwd: desk.folder }; // others lose the variables on the way
    return terminal
      ? new Shell('script', ['-qefc', quoted, '/dev/null'], options)
      : new Shell('unshare', line, options);
  };

  const told = `process.stdout.write(process.env['spring.profiles.active'] + '|' + process.env['two.lines'] + '|' +
    Object.keys(process.env).filter((name) => name.includes('DROPPED')))`;
  const EXPECTED = "prod|it's\nthe second $HOME|";

  test('with a small shell alone: variables whose names no shell has arrive, as they are', async () => {
    const words = ['run', 'dotted', '--', process.execPath, '-e', told];
    expect(await without(shells('bash'), words).end()).toEqual({ code: 0, stdout: EXPECTED, stderr: '' });
  });

  test('and at a command whose own name has a =', async () => {
    const name = join(desk.folder, 'a=b');
    symlinkSync(process.execPath, name);
    const words = ['run', 'dotted', '--', './a=b', '-e', told];
    expect(await without(shells('bash'), words).end()).toMatchObject({ code: 0, stdout: EXPECTED });
  });

  test.runIf(hasTerminal)('and in a terminal, which the command has', async () => {
    const words = ['run', 'dotted', '--', process.execPath, '-e', told];
    await using shell = without(shells('bash'), words, true);
    expect((await shell.end()).stdout.replaceAll('\r', '')).toBe(EXPECTED);
  });

  test.each([
    ['run', ['run', 'key']],
    ['lead', ['lead', 'key', '--one-term']],
    ['once', ['once', 'key', '--tick', '1d', '--within', '1d']],
  ])('without any shell, %s says so, and nothing is taken', async (_title, args) => {
    const none = shells('bash', 'sh', 'dash', 'busybox');
    const outcome = await without(none, [...args, '--', process.execPath, '-e', 'process.stdout.write("ran")']).end();
    expect(outcome).toMatchObject({
      code: 127,
      stdout: '',
      stderr: expect.stringMatching(/no shell was found .*nothing was taken/),
    });
    const again = await desk.run(...args, '--', process.execPath, '-e', 'process.stdout.write("ran")');
    expect(again, 'where there is a shell it runs').toMatchObject({ code: 0, stdout: 'ran' });
  });
});

test('the values of such variables are on no command line while a command waits for its turn', () => {
  const dropped = removedVariables({ 'a.b': 'secret', plain: 'x', '2': 'y' });
  expect(Object.values(dropped).sort()).toEqual(['2=y', 'a.b=secret']);
  const script = gateScript(3, { ignored: [], openFiles: undefined, descriptors: [] }, Object.keys(dropped));
  expect(script).not.toContain('secret');
});
