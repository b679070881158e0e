import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { urlOfFile } from '../../src/connect/url.ts';
import { temporaryFolder } from '../kit/folder.ts';

const run = promisify(execFile);
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/** Prints what came of a lock whose connection has a thread for renewal. */
const program = `
import { connect } from '${new URL('../../src/connect/index.ts', import.meta.url)}';
try {
  await using locks = await connect('${urlOfFile(join(folder.path, 'locks.db'))}', { renewal: 'worker' });
  console.log(await locks.mutex('order').run((lease) => (lease.held ? 'held' : 'lost')));
} catch (error) {
  console.log(error.code + ': ' + error.message);
}
`;
const file = join(folder.path, 'program.mts');
beforeAll(() => writeFileSync(file, program));

const printed = async (...args: readonly string[]): Promise<string> =>
  (await run(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '', VITEST: '' } })).stdout;

describe.concurrent("renewal: 'worker'", () => {
  test.each([
    ['of the heap', ['--max-old-space-size=300', '--max-semi-space-size=16', '--heapsnapshot-signal=SIGUSR2']],
    ['of V8', ['--expose-gc', '--stack-size=900', '--no-opt']],
    ['of the process', ['--title=orders', '--disable-proto=delete', '--v8-pool-size=2']],
    ['for the thread, too', ['--enable-source-maps', '--trace-warnings', '--conditions=own']],
  ])('starts under flags %s', async (_what, flags) => {
    expect(await printed(...flags, file)).toBe('held\n');
  });

  test('starts in a program that is given as text, whatever else is set', async () => {
    expect(await printed('--input-type=module', '--expose-gc', '--eval', program)).toBe('held\n');
    expect(await printed('--input-type', 'module', '--title=orders', '--eval', program)).toBe('held\n');
  });

  test('says what is missing where the permission model forbids threads', async () => {
    const permitted = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*', '--allow-addons'];
    const refused = await printed(...permitted, file);
    expect(refused).toMatch(
      /^LOCK_UNSUPPORTED: the thread for renewal: 'worker' could not be started: .*--allow-worker/,
    );
    expect(refused).not.toContain('bundle');
    expect(await printed(...permitted, '--allow-worker', file)).toBe('held\n');
  });
});
