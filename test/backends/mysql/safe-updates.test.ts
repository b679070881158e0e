import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { mysql } from '../../../src/backends/mysql/index.ts';
import { createLocks } from '../../../src/index.ts';
import { startMariadb } from '../../kit/mariadb.ts';
import { describeOn } from '../../kit/suite.ts';
import { useServer } from './server.ts';

describeOn(['mysql', 'mariadb'], 'a server with sql_safe_updates', () => {
  const host = useServer({ name: 'MariaDB', dialect: 'mariadb', need: 'mariadb', start: startMariadb });

  test('several holds of one process are renewed where the server allows no update without a key', async () => {
    await host.pool().query('SET GLOBAL sql_safe_updates = ON');
    await using locks = createLocks(mysql(host.pool()), { ttl: '600ms' });
    const leases = await Promise.all(['a', 'b', 'c'].map((key) => locks.mutex(key).acquire()));
    await sleep(1_500);
    expect(leases.map(({ held }) => held)).toEqual([true, true, true]);
  });
});
