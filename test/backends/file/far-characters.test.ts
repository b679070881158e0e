/** Keys that begin with characters beyond U+FFFF: in UTF-16 these are two halves. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { file } from '../../../src/backends/file/index.ts';
import { createLocks } from '../../../src/index.ts';
import { claim } from '../../core/claim.ts';
import { temporaryFolder } from '../../kit/folder.ts';

const KEYS = ['\u{10000}', '\u{10001}', '\u{103FF}', '\u{10FFFF}'];

test('are keys of their own, and each is listed', async () => {
  using folder = temporaryFolder();
  await using locks = createLocks(file({ path: join(folder.path, 'locks.db') }));
  for (const key of KEYS) await locks.mutex(key).acquire({ wait: 100 });
  const listed: string[] = [];
  for await (const { key } of locks.inspect('')) listed.push(key);
  expect(listed.toSorted()).toEqual(KEYS.toSorted());
});

test('a listing ends although their claims have expired', { timeout: 5_000 }, async () => {
  using folder = temporaryFolder();
  const engine = file({ path: join(folder.path, 'locks.db') });
  for (const key of KEYS) await engine.attempt(claim(key, { key, ttl: 10 }));
  await new Promise((resolve) => setTimeout(resolve, 30));
  const listed: string[] = [];
  for await (const { key } of engine.inspect!('')) listed.push(key);
  expect(listed).toEqual([]);
  await engine.close();
});
