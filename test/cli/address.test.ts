import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stateFolder } from '../../products/cli/engine.ts';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { Desk } from './shell.ts';

const recorded = (): string => '/home/recorded';
const unknown = (): string => {
  throw new Error('ENOENT: no such file or directory, uv_os_get_passwd');
};

describe('the folder of the default file', () => {
  test.each<[string, NodeJS.ProcessEnv, NodeJS.Platform, string]>([
    ['XDG_STATE_HOME', { XDG_STATE_HOME: '/state', HOME: '/home/me' }, 'linux', '/state/holdfast'],
    [
      'HOME, beside a relative XDG_STATE_HOME',
      { XDG_STATE_HOME: 'state', HOME: '/h' },
      'linux',
      '/h/.local/state/holdfast',
    ],
    ['the recorded home, beside an empty HOME', { HOME: '' }, 'linux', '/home/recorded/.local/state/holdfast'],
    ['the recorded home, without HOME', {}, 'linux', '/home/recorded/.local/state/holdfast'],
    ['the recorded home, beside a relative HOME', { HOME: 'here' }, 'linux', '/home/recorded/.local/state/holdfast'],
    ['the recorded home, on macOS', { HOME: '.' }, 'darwin', '/home/recorded/Library/Application Support/holdfast'],
    ['LOCALAPPDATA', { LOCALAPPDATA: '/local' }, 'win32', '/local/holdfast'],
    [
      'the recorded home, beside a relative LOCALAPPDATA',
      { LOCALAPPDATA: 'local' },
      'win32',
      '/home/recorded/AppData/Local/holdfast',
    ],
  ])('is of %s, never below the current folder', (_title, env, platform, folder) => {
    expect(stateFolder(env, platform, recorded)).toBe(folder);
  });

  test.each([
    ['no record of the user', unknown],
    ['a record without a home', () => ''],
  ])('%s and an empty HOME: it is refused, and the advice is an address', (_title, home) => {
    expect(() => stateFolder({ HOME: '' }, 'linux', home)).toThrow(
      expect.objectContaining({ exitCode: 64, message: expect.stringMatching(/HOME is "".*HOLDFAST_URL or --url/) }),
    );
  });

  test('that cannot be made ends with 69 and the same advice', async () => {
    using desk = new Desk();
    writeFileSync(join(desk.folder, 'file'), '');
    using other = new Desk({ XDG_STATE_HOME: join(desk.folder, 'file') });
    expect(await other.run('ls')).toMatchObject({
      code: 69,
      stdout: '',
      stderr: expect.stringMatching(
        /^holdfast: the folder for a file of locks cannot be made: .*HOLDFAST_URL or --url[^\n]*\n$/,
      ),
    });
  });
});

const EMPTY: readonly [args: readonly string[], code: number][] = [
  [['ls'], 0],
  [['ls', 'order:'], 0],
  [['show', 'order:42'], 0],
  [['who', 'scheduler'], 1],
  [['deadlocks'], 0],
  [['release', '--force', 'order:42', '--reason', 'a test', '--yes'], 1],
];

describeOn('redis', 'an answer that says nothing names the engine and where its address came from', () => {
  test.each(EMPTY)('%j', async (args, code) => {
    await using server = await startRedis();
    using desk = new Desk();
    using told = new Desk({ HOLDFAST_URL: server.url });
    const said = async (at: Desk, ...more: string[]): Promise<string> => {
      const outcome = await at.run(...args, ...more);
      expect(outcome.code).toBe(code);
      return outcome.stdout + outcome.stderr;
    };
    expect(await said(told)).toContain(`in ${server.url} (from HOLDFAST_URL).`);
    expect(await said(told, '--url', `file:${desk.folder}/x.db`)).toContain(`in file:${desk.folder}/x.db (--url).`);
    expect(await said(desk)).toContain(
      `in file:${desk.folder}/holdfast/locks.db (the default: neither --url nor HOLDFAST_URL is set).`,
    );
  });

  test('a password in the address is not shown', async () => {
    await using server = await startRedis({ user: ['app', 'on', '>canary', '~*', '&*', '+@all'] });
    using desk = new Desk({ HOLDFAST_URL: server.url.replace('//', '//app:canary@') });
    const { stderr } = await desk.run('ls');
    expect(stderr).toContain('in redis://***@');
    expect(stderr).not.toContain('canary');
  });
});
