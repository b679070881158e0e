import { join } from 'node:path';
import { expect, test } from 'vitest';
import { torture } from '../../products/torture/torture.ts';
import { urlOfFile } from '../../src/connect/url.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { BROKEN } from './broken.ts';
import { FOUND } from './found.ts';

const WORKER = new URL('broken.worker.ts', import.meta.url);

test('each planted defect that is looked for is there', () => {
  expect(Object.keys(BROKEN)).toEqual(expect.arrayContaining(Object.keys(FOUND)));
});

async function found(url: string, name: string, what: RegExp): Promise<void> {
  process.env.BROKEN = name;
  const verdict = await torture({ url, duration: 60_000, seed: 1, processes: 2, worker: WORKER });
  expect(verdict).toMatchObject({ outcome: 'broken', ended: 'broken' });
  expect(Object.keys(verdict.broken).join()).toMatch(what);
}

describeOn('file', 'torture on a file', () => {
  test('finds processes whose close has no end', { timeout: 150_000 }, async () => {
    using folder = temporaryFolder();
    const worker = new URL('hanging.worker.ts', import.meta.url);
    const url = urlOfFile(join(folder.path, 'locks.db'));
    const verdict = await torture({ url, duration: 5_000, seed: 1, processes: 2, worker });
    expect(verdict).toMatchObject({ outcome: 'broken', broken: { hang: expect.any(Number) } });
  });

  test.each(Object.entries(FOUND))('finds an engine that %s', { timeout: 120_000 }, async (name, what) => {
    using folder = temporaryFolder();
    await found(urlOfFile(join(folder.path, 'locks.db')), name, what);
  });
});

describeOn('redis', 'torture on Redis', () => {
  const names = ['grants twice', 'gives tokens twice', 'drops wake-ups'];
  test.each(names)('finds an engine that %s', { timeout: 120_000 }, async (name) => {
    await using server = await startRedis();
    await found(server.url, name, FOUND[name]!);
  });
});
