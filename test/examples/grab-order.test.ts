import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
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

describeOn(['mysql', 'redis'], 'grab an order, with the orders in MariaDB', () => {
  test('several drivers win without a lock, one wins with each', { timeout: 90_000 }, async () => {
    const strategies = ['sql-named', 'redis', 'redis-spin', 'file'];
    const output = await run('--strategies', ['none', ...strategies].join(','));
    expect(output).toMatch(/^none .*: \d of 6 orders were won more than once$/m);
    for (const name of strategies) expect(output).toMatch(new RegExp(`^${name} .*: each order has one winner$`, 'm'));
  });
});

describeOn('postgres', 'grab an order, with the orders in PostgreSQL', () => {
  test('one driver wins in each way of the database itself', { timeout: 90_000 }, async () => {
    const strategies = ['sql', 'for-update', 'optimistic'];
    const output = await run('--database', 'postgres', '--strategies', strategies.join(','));
    for (const name of strategies) expect(output).toMatch(new RegExp(`^${name} .*: each order has one winner$`, 'm'));
  });
});
