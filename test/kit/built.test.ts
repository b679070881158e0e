import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { builtOnce } from './built.ts';
import { temporaryFolder } from './folder.ts';

let all: ReturnType<typeof temporaryFolder>;
let file: string;

beforeEach(() => {
  all = temporaryFolder();
  vi.stubEnv('HOLDFAST_SERVERS', join(all.path, 'servers'));
  file = join(all.path, 'list.txt');
  writeFileSync(file, 'one');
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  all[Symbol.dispose]();
});

test('it is built once, and again when a file has changed', async () => {
  const build = vi.fn(async (folder: string) => writeFileSync(join(folder, 'made'), ''));
  const first = await builtOnce('thing', [file], build);
  expect(await builtOnce('thing', [file], build)).toBe(first);
  writeFileSync(file, 'two');
  expect(await builtOnce('thing', [file], build)).not.toBe(first);
  expect(build).toHaveBeenCalledTimes(2);
  expect(readdirSync(first!)).toEqual(['made']);
});

const refusing = async (): Promise<never> => {
  throw new Error('the registry does not answer');
};

test('a build that fails is told loudly, and leaves nothing', async () => {
  vi.stubEnv('CI', '');
  const told = vi.spyOn(console, 'error').mockImplementation(() => {});
  expect(await builtOnce('thing', [file], refusing)).toBeUndefined();
  expect(told.mock.calls.flat().join()).toMatch(/!!! thing could not .* the registry does not answer/);
  expect(readdirSync(join(all.path, 'projects'))).toEqual([]);
});

test('on CI a build that fails is an error', async () => {
  vi.stubEnv('CI', 'true');
  await expect(builtOnce('thing', [file], refusing)).rejects.toThrow('the registry does not answer');
});
