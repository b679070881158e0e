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
    // Long enough that on a machine that is busy a second driver still reads before the first has written.
    const output = await run('--work', '50', '--strategies', ['none', ...strategies].join(','));
    expect(output).toMatch(/^none .*: \d of 6 orders were won more than once$/m);
    for (const name of strategies) expect(output).toMatch(new RegExp(`^${name} .*: each order has one winner$`, 'm'));
  });
});

describeOn('redis', 'grab an order, with the orders in SQLite, where none is named', () => {
  test('several drivers win without a lock, one wins with a lock on the method', { timeout: 90_000 }, async () => {
    const output = await run('--work', '50', '--strategies', 'none,decorator');
    expect(output).toContain('orders in sqlite');
    expect(output).toMatch(/^none .*: \d of 6 orders were won more than once$/m);
    expect(output).toMatch(/^decorator .*: each order has one winner$/m);
  });
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
