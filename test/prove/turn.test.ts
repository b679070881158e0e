import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../kit/folder.ts';
import { turnOfProof } from './turn.ts';

test('one run of proof at a time, and the next one after its end', async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'prove.db');
  const first = await turnOfProof(path);
  expect(first, 'the first').toBeDefined();
  expect(await turnOfProof(path), 'beside the first').toBeUndefined();
  await first![Symbol.asyncDispose]();
  const next = await turnOfProof(path);
  expect(next, 'after the first').toBeDefined();
  await next![Symbol.asyncDispose]();
});
