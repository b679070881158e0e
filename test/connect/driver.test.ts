import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../kit/folder.ts';
import { ADDRESSES } from './engines.ts';

const HIDE = `import { registerHooks } from 'node:module';
registerHooks({
  resolve(name, context, next) {
    if (!/^(ioredis|pg|mysql2|mongodb|@nats-io\\/[a-z-]+|@aws-sdk\\/[a-z0-9-]+)(\\/|$)/.test(name)) return next(name, context);
    throw Object.assign(new Error('Cannot find package ' + name), { code: 'ERR_MODULE_NOT_FOUND' });
  },
});`;

const PACKAGE = new URL('../../package.json', import.meta.url);
const CONNECT_MODULE = fileURLToPath(new URL('../../src/connect/index.ts', import.meta.url));
const CONNECT = `const { connect } = await import(${JSON.stringify(CONNECT_MODULE)});
const error = await connect(process.argv[1]).then(() => undefined, (thrown) => thrown);
console.log(JSON.stringify({ code: error?.code, message: error?.message }));`;

test('each driver is declared, optional and open upwards: in a workspace of Yarn, a package finds nothing else', () => {
  const { peerDependencies, peerDependenciesMeta } = JSON.parse(readFileSync(PACKAGE, 'utf8'));
  const drivers = [...new Set(ADDRESSES.flatMap(({ driver }) => driver ?? []))];
  expect(Object.keys(peerDependencies)).toEqual(expect.arrayContaining(drivers));
  for (const [name, range] of Object.entries(peerDependencies)) expect(range, name).toMatch(/^>=\d+(\.\d+)*$/);
  const optional = Object.keys(peerDependencies).map((name) => [name, { optional: true }]);
  expect(peerDependenciesMeta).toEqual(Object.fromEntries(optional));
});

describe('where a driver is not installed', () => {
  test.each(ADDRESSES.filter(({ driver }) => driver !== undefined))('$name says which package to install', async ({
    driver,
    dead,
  }) => {
    const hooks = `data:text/javascript,${encodeURIComponent(HIDE)}`;
    const args = ['--import', hooks, '--input-type=module', '--eval', CONNECT, '--', dead];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
    expect(JSON.parse(stdout)).toEqual({
      code: 'LOCK_UNSUPPORTED',
      message: expect.stringContaining(`npm install ${driver}`),
    });
    expect(stdout).not.toContain('canary');
  });

  test('a bundler takes connect() all the same, and the bundle says which package to install', async () => {
    using folder = temporaryFolder();
    const outfile = join(folder.path, 'bundle.cjs');
    const drivers = ['ioredis', 'pg', 'mysql2/promise', 'mongodb'];
    const contents = `import { connect } from ${JSON.stringify(CONNECT_MODULE)};
      connect('postgres://nobody@127.0.0.1:1/none').catch(({ code, message }) => console.log(code, message));`;
    await build({
      stdin: { contents, resolveDir: folder.path },
      bundle: true,
      outfile,
      platform: 'node',
      logLevel: 'silent',
      alias: Object.fromEntries(drivers.map((name) => [name, `/nowhere/${name}`])),
    });
    const hooks = `data:text/javascript,${encodeURIComponent(HIDE.replace('ERR_', ''))}`; // as require() says it
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', hooks, outfile], { timeout: 60_000 });
    expect(stdout).toMatch(/^LOCK_UNSUPPORTED .*npm install pg/);
  });
});
