import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ADDRESSES } from './engines.ts';

const HIDE = `import { registerHooks } from 'node:module';
registerHooks({
  resolve(name, context, next) {
    if (!/^(ioredis|pg|mysql2|mongodb)(\\/|$)/.test(name)) return next(name, context);
    throw Object.assign(new Error('Cannot find package ' + name), { code: 'ERR_MODULE_NOT_FOUND' });
  },
});`;

const CONNECT = `const { connect } = await import(${JSON.stringify(new URL('../../src/connect/index.ts', import.meta.url).href)});
const error = await connect(process.argv[1]).then(() => undefined, (thrown) => thrown);
console.log(JSON.stringify({ code: error?.code, message: error?.message }));`;

describe('where a driver is not installed', () => {
  test.each(ADDRESSES.filter(({ driver }) => driver !== undefined))('$name says which package to install', async ({
    driver,
    dead,
  }) => {
    const hooks = `data:text/javascript,${encodeURIComponent(HIDE)}`;
    const args = ['--import', hooks, '--input-type=module', '--eval', CONNECT, '--', dead];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 15_000 });
    expect(JSON.parse(stdout)).toEqual({
      code: 'LOCK_UNSUPPORTED',
      message: expect.stringContaining(`npm install ${driver}`),
    });
    expect(stdout).not.toContain('canary');
  });
});
