import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createPool, type Pool } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { mysql } from '../../../src/backends/mysql/index.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
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

  test('over a connection of our own a renewal waits for no connection of the pool, also when the clock of the server was read long ago', async () => {
    const pool = host.pool({ connectionLimit: 2 });
    let passed = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + passed };
    const backend = mysql(pool, { clock, sweep: 0 });
    const claim = claimOf('long ago');
    await backend.attempt(claim);
    passed = 301_000;
    const free = await occupy(pool);
    const other = backend.attempt(claimOf('other')); // it reads the clock again, and waits for a connection
    const renewal = settleWithin('a renewal, while an attempt waits for the pool', backend.renew([claim]), 5_000);
    try {
      expect(await renewal).toEqual([{ validFor: claim.ttl }]);
    } finally {
      free();
      await other;
      await backend.close();
    }
  });

  test.each([
    'is idle',
    'waits for an answer',
    'is being opened',
  ])('close() leaves no socket of our own connection, which %s, where the server fell silent', async (state) => {
    const link = await startProxy(host.server.port);
    const sockets: Socket[] = [];
    const stream = (): Socket => {
      const socket = connect(link.port, link.host);
      sockets.push(socket);
      return socket;
    };
    const pool = host.pool({ stream, connectionLimit: 1 });
    const backend = mysql(pool, { sweep: 0 });
    const claim = claimOf(`silent, ${state}`);
    await backend.attempt(claim);
    if (state !== 'is being opened') await backend.renew([claim]);
    const sent = sockets[1]?.bytesWritten ?? -1;
    link.stall();
    const renewal = state === 'is idle' ? undefined : backend.renew([claim]).catch(() => {});
    if (renewal) await until('the renewal is under way', () => (sockets[1]?.bytesWritten ?? -1) > sent);
    const closed = once(sockets[1]!, 'close');
    try {
      await backend.close();
      await settleWithin('the end of the socket', closed, 5_000);
    } finally {
      await link.pass(); // for the goodbye of the pool
      await renewal;
      await pool.end();
      await link[Symbol.asyncDispose]();
    }
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
