import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../kit/folder.ts';
import { describeOn } from '../kit/suite.ts';

const run = async (...args: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      'examples/grab-order/main.ts',
      '--orders',
      '6',
      '--drivers',
      '10',
      ...args,
    ],
    { env: { ...process.env, NODE_OPTIONS: '' } },
  );
  return stdout;
};

/** From the table that it prints. */
const winners = (output: string, strategy: string): number =>
  Number(new RegExp(`^│ ${strategy} +│ \\d+ +│ (\\d+)`, 'm').exec(output)?.[1]);

test('a lock inside each process has one winner in every process, of every order', { timeout: 60_000 }, async () => {
  const output = await run('--processes', '2', '--strategies', 'none,in-process,file');
  expect(winners(output, 'none')).toBe(60);
  expect(winners(output, 'in-process')).toBe(12);
  expect(winners(output, 'file')).toBe(6);
});

describeOn(['mysql', 'redis'], 'grab an order, with the orders in MariaDB', () => {
  test('several drivers win each order without a lock, one wins with each', { timeout: 90_000 }, async () => {
    const strategies = ['sql-named', 'redis', 'redis-spin', 'file'];
    const output = await run('--strategies', ['none', 'in-process', ...strategies].join(','));
    for (const name of ['none', 'in-process']) {
      expect(output).toMatch(new RegExp(`^${name} .*: 6 of 6 orders were won more than once$`, 'm'));
    }
    for (const name of strategies) expect(output).toMatch(new RegExp(`^${name} .*: each order has one winner$`, 'm'));
  });
});

describeOn('redis', 'grab an order, with the orders in SQLite, where none is named', () => {
  test('all win without a lock, one with a lock on the method', { timeout: 90_000 }, async () => {
    const output = await run('--strategies', 'none,decorator');
    expect(output).toContain('orders in sqlite');
    expect(output).toMatch(/^none .*: 6 of 6 orders were won more than once$/m);
    expect(winners(output, 'none'), 'each of 10 drivers was told yes, of each order').toBe(60);
    expect(output).toMatch(/^decorator .*: each order has one winner$/m);
  });
});

test('an engine of the user is locked on by its URL, and the strategies for it say so without one', {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const output = await run('--url', `file:${join(folder.path, 'locks.db')}`, '--strategies', 'url,url-spin');
  for (const name of ['url', 'url-spin'])
    expect(output).toMatch(new RegExp(`^${name} .*: each order has one winner$`, 'm'));
  await expect(run('--strategies', 'url')).rejects.toThrow('need --url');
});

test('what locks in the database is refused where that cannot lock', async () => {
  const refused = run('--database', 'sqlite', '--strategies', 'redis,for-update');
  await expect(refused).rejects.toThrow('for-update locks in the database: --database mariadb, or postgres');
});

describeOn('postgres', 'grab an order, with the orders in PostgreSQL', () => {
  test('one driver wins in each way of the database itself', { timeout: 90_000 }, async () => {
    const strategies = ['sql', 'for-update', 'optimistic'];
    const output = await run('--database', 'postgres', '--strategies', strategies.join(','));
    for (const name of strategies) expect(output).toMatch(new RegExp(`^${name} .*: each order has one winner$`, 'm'));
  });
});
