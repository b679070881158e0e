import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from './kit/folder.ts';
import { startMariadb } from './kit/mariadb.ts';
import { packedPackage } from './kit/packed.ts';
import { startPostgres } from './kit/postgres.ts';
import { startRedis } from './kit/redis.ts';
import { describeOn } from './kit/suite.ts';
import * as uses from './package/peers.ts';

const run = promisify(execFile);
const manifest = JSON.parse(readFileSync(fileURLToPath(new URL('../package.json', import.meta.url)), 'utf8')) as {
  peerDependencies: Record<string, string>;
};

/** The least version that a range such as `>=8.0.3` lets in. */
const least = (range: string): string => {
  const [, major, minor = '0', patch = '0'] = /^>=(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(range)!;
  return `${major}.${minor}.${patch}`;
};

/** A project with each peer in the oldest version that is promised, into which the tarball is installed. */
const folder = temporaryFolder();
const project = join(folder.path, 'project');

async function prints(program: string, url = ''): Promise<string> {
  const file = join(project, `${Math.random()}.mjs`);
  writeFileSync(file, program);
  return (await run(process.execPath, [file, url], { cwd: project })).stdout;
}

beforeAll(async () => {
  mkdirSync(project);
  const { tarball } = await packedPackage(folder.path);
  const oldest = Object.entries(manifest.peerDependencies).map(([name, range]) => [name, least(range)]);
  // Nest stands on these itself.
  const dependencies = { ...Object.fromEntries(oldest), 'reflect-metadata': '0.1.13', rxjs: '7.8.1' };
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, dependencies }));
  // Without --force and --legacy-peer-deps: a peer that is asked for too new would end it.
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', tarball], { cwd: project });
}, 240_000);
afterAll(() => folder[Symbol.dispose]());

test('every peer is optional, and no range has an upper end', () => {
  for (const range of Object.values(manifest.peerDependencies)) expect(range).toMatch(/^>=[\d.]+$/);
});

test('a Nest of the oldest version has a mutex, and runs ticks', async () => {
  expect(await prints(uses.nest)).toBe('held, ticked\n');
});

test('an OpenTelemetry API of the oldest version measures', async () => {
  expect(await prints(uses.otel)).toBe('1\n');
});

test('croner and node-cron of the oldest versions run a tick', { timeout: 30_000 }, async () => {
  expect(await prints(uses.cron)).toBe('croner, node-cron\n');
});

describeOn('redis', 'by the oldest clients', () => {
  test('ioredis and node-redis hold a mutex in turn', async () => {
    await using server = await startRedis();
    expect(await prints(uses.redis, server.url)).toBe('ioredis: 3 in turn\nnode-redis: 3 in turn\n');
  });
});

describeOn('postgres', 'by the oldest clients', () => {
  test('pg and postgres.js hold a mutex in turn', async () => {
    await using server = await startPostgres();
    expect(await prints(uses.postgres, server.url)).toBe('pg: 3 in turn\npostgres.js: 3 in turn\n');
  });
});

describeOn('mysql', 'by the oldest clients', () => {
  test('mysql2 and mariadb hold a mutex in turn', async () => {
    await using server = await startMariadb();
    expect(await prints(uses.mysql, server.url)).toBe('mysql2: 3 in turn\nmariadb: 3 in turn\n');
  });
});
