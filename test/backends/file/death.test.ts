import { describe, expect, test } from 'vitest';
import { provesDeath, socketName } from '../../../src/backends/file/sockets.ts';

const RANDOM = 'f'.repeat(32);
const gone = (): boolean => true;
const alive = (): boolean => false;

describe('the error of a connection to another process', () => {
  test.each<[string, NodeJS.Platform, string | undefined, () => boolean, boolean]>([
    ['on Linux a refusal proves its death', 'linux', 'ECONNREFUSED', alive, true],
    ['on Linux a full backlog does not', 'linux', 'EAGAIN', gone, false],
    [
      'on macOS a refusal proves nothing while it lives: its backlog may be full',
      'darwin',
      'ECONNREFUSED',
      alive,
      false,
    ],
    ['on macOS a refusal proves its death when it is gone', 'darwin', 'ECONNREFUSED', gone, true],
    ['on FreeBSD a refusal proves nothing while it lives', 'freebsd', 'ECONNREFUSED', alive, false],
    ['a missing socket may be one that is not there yet', 'darwin', 'ENOENT', gone, false],
    ['on Windows a missing pipe proves its death', 'win32', 'ENOENT', alive, true],
    ['no error proves nothing', 'linux', undefined, gone, false],
  ])('%s', (_, platform, trouble, isGone, proves) => {
    expect(provesDeath(trouble, socketName(RANDOM, 4_242), platform, isGone)).toBe(proves);
  });

  test('is judged by the process id in the name of its socket, wherever that is', () => {
    const asked: number[] = [];
    for (const pid of [1, 4_242, 4_194_304])
      provesDeath('ECONNREFUSED', `/tmp/elsewhere/${socketName(RANDOM, pid)}`, 'darwin', (id) => {
        asked.push(id);
        return true;
      });
    expect(asked).toEqual([1, 4_242, 4_194_304]);
  });

  test('a process that runs is not gone', () => {
    expect(provesDeath('ECONNREFUSED', socketName(RANDOM), 'darwin')).toBe(false);
  });
});
