import { createPool } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { DANGERS } from '../../../src/backends/mysql/check.ts';
import { mysql } from '../../../src/backends/mysql/index.ts';
import { follow } from '../../kit/fail-over.ts';
import { describeOnMysql } from '../../kit/mysql-kinds.ts';
import { until } from '../../kit/wait.ts';

describeOnMysql('a server with a replica', (kind) => {
  test('check() names the replica that is not waited for on one, and the primary that is elsewhere on the other', async () => {
    await using stack = new AsyncDisposableStack();
    const settings = { 'log-bin': 'binlog', 'sync-binlog': '1', 'innodb-flush-log-at-trx-commit': '1' };
    const [primary, replica] = await Promise.all([1, 2].map((id) => kind.start({ ...settings, 'server-id': `${id}` })));
    const [up, down] = [primary, replica].map((server) => {
      stack.use(server!);
      const pool = createPool(server!.url);
      stack.defer(() => pool.end());
      return pool;
    });
    await follow(kind, replica!, primary!);
    const [above, below] = [up!, down!].map((pool, i) => mysql(pool, { table: `lines_${i}`, sweep: 0 }));
    const codes = async (backend = above): Promise<string[]> => (await backend!.check()).map(({ code }) => code);
    await until('the replica follows', async () => (await codes()).includes('asynchronous-replicas')).catch((error) => {
      throw new Error(`${primary!.output}\n${replica!.output}`, { cause: error });
    });
    expect(await codes(below)).toContain('replica');
    await Promise.all([above!.close(), below!.close()]);
  });
});

// A group is not run here: this is what the manual of MySQL says of these two variables.
test('a group with several primaries is a danger, one with a single primary is not', () => {
  const codes = (single: string): string[] => {
    const all: Record<string, string> = {
      version: '8.4.0',
      innodb_flush_log_at_trx_commit: '1',
      wait_timeout: '28800',
      group_replication_group_name: 'aadaaaaa-adda-adda-aaaa-aaaaaaddaaaa',
      group_replication_single_primary_mode: single,
    };
    return DANGERS.filter(({ when }) => when((name) => all[name] ?? '')).map(({ code }) => code);
  };
  expect(codes('OFF')).toEqual(['several-primaries']);
  expect(codes('ON')).toEqual([]);
});
