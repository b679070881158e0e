import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { dataFolder, NEEDED } from './data-folder.ts';

test('tests keep their files in memory where there is enough of it, and otherwise where the machine keeps such files', () => {
  expect(dataFolder({}, () => NEEDED)).toBe('/dev/shm');
  expect(dataFolder({}, () => NEEDED - 1)).toBe(tmpdir());
  const missing = (): number => {
    throw new Error('no such folder');
  };
  expect(dataFolder({}, missing)).toBe(tmpdir());
});

test('a folder that the caller has chosen is used', () => {
  expect(dataFolder({ TMPDIR: '/chosen' }, () => NEEDED)).toBe('/chosen');
});
