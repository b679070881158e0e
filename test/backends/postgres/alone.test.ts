import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPostgres } from '../../kit/postgres.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';

const SCRIPT = fileURLToPath(new URL('alone.worker.ts', import.meta.url));

describeOn('postgres', 'a process that only locks', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each([
    ['table', 'closed'],
    ['advisory', 'closed'],
    ['advisory', 'left open'],
  ])('lives until it has its answers, and no longer: %s, %s', async (kind, end) => {
    const env = { ...process.env, NODE_OPTIONS: '', URL: server.url };
    const script = promisify(execFile)(process.execPath, [SCRIPT, kind, end], { env, timeout: 60_000 });
    expect((await script).stdout).toBe('done\n');
  });
});
