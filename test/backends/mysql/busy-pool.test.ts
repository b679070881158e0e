import { createPool, type Pool } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { mysql } from '../../../src/backends/mysql/index.ts';
import { createLocks } from '../../../src/index.ts';
import { describeOnMysql } from '../../kit/mysql-kinds.ts';
import { startProxy } from '../../kit/proxy.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { claimOf } from './claims.ts';
import { useServer } from './server.ts';

describeOnMysql('a pool whose connections the application keeps busy', (kind) => {
  const host = useServer(kind);
  const occupy = async (pool: Pool): Promise<() => void> => {
    const connections = await Promise.all([pool.getConnection(), pool.getConnection()]);
    return () => {
      for (const connection of connections) connection.release();
    };
  };

  test('no hold is lost while long transactions take all connections of the pool', async () => {
    const pool = host.pool({ connectionLimit: 2 });
    const locks = createLocks(mysql(pool), { ttl: '2s' });
    const leases = await Promise.all([1, 2, 3].map((n) => locks.mutex(`transaction ${n}`).acquire()));
    await Promise.all(leases.map(() => pool.query('SELECT SLEEP(5)')));
    expect(leases.map(({ held }) => held)).toEqual([true, true, true]);
    await locks.close();
  });

  test('a hold that is lost because its renewals waited for a connection says so', async () => {
    const pool = host.pool({ connectionLimit: 2 });
    const locks = createLocks(mysql(pool, { ownConnection: false }));
    const lease = await locks.mutex('busy').acquire({ ttl: 3_000 });
    const free = await occupy(pool);
    await until('it is lost', () => lease.signal.aborted);
    expect(lease.signal.reason).toMatchObject({
      code: 'LOCK_LOST',
      message: expect.stringMatching(
        /all 2 connections of the pool are in use, and (?:1 statement waits|\d+ statements wait) for one/,
      ),
    });
    await expect(locks.mutex('another').tryAcquire({ ttl: 300 })).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(/all 2 connections of the pool are in use/),
    });
    free();
    await locks.close();
  });

  test('with a connection of our own, renewals go on, and it ends with the locks', async () => {
    const pool = host.pool({ connectionLimit: 2 });
    const backend = mysql(pool);
    const claim = claimOf('own');
    await backend.attempt(claim);
    const free = await occupy(pool);
    expect(await settleWithin('a renewal', backend.renew([claim]))).toEqual([{ validFor: claim.ttl }]);
    expect(await settleWithin('a renewal', backend.renew([claimOf('none')]))).toEqual(['gone']);
    free();
    const root = host.pool();
    const sessions = async (): Promise<number> => {
      const sql = "SELECT COUNT(*) AS n FROM information_schema.PROCESSLIST WHERE COMMAND = 'Sleep'";
      return ((await root.query(sql))[0] as { n: number }[])[0]!.n;
    };
    const before = await sessions();
    await backend.close();
    await until('the connection has ended', async () => (await sessions()) === before - 1);
  });

  test('while a connection of our own is away, renewals go over the pool', async () => {
    const link = await startProxy(host.server.port);
    const pool = createPool({ uri: host.server.url, port: link.port, connectionLimit: 1 });
    const backend = mysql(pool);
    const claim = claimOf('away');
    await backend.attempt(claim); // over the connection of the pool, which stays
    link.refuse();
    expect(await settleWithin('a renewal', backend.renew([claim]))).toEqual([{ validFor: claim.ttl }]);
    await backend.close();
    await pool.end();
    await link[Symbol.asyncDispose]();
  });
});
