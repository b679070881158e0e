import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgres } from '../../../src/backends/postgres/index.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { createLocks } from '../../../src/index.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { claimOf, Database } from './database.ts';

describeOn('postgres', 'a pool whose connections the application keeps busy', () => {
  let database: Database;
  beforeAll(async () => {
    database = await Database.start();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  test('no hold is lost while long transactions take all connections of the pool', async () => {
    const backend = await database.open((pool) => postgres(pool), { max: 2 });
    const { pool } = database.client(backend);
    const locks = createLocks(backend, { ttl: '2s' });
    const leases = await Promise.all([1, 2, 3].map((n) => locks.mutex(`transaction ${n}`).acquire()));
    const sleeps = leases.map(() => pool.query('SELECT pg_sleep(5)'));
    await Promise.all(sleeps);
    expect(leases.map(({ held }) => held)).toEqual([true, true, true]);
    await locks.close();
  });

  test('a hold that is lost because its renewals waited for a connection says so', async () => {
    const backend = await database.open((pool) => postgres(pool, { ownConnection: false }), { max: 2 });
    const { pool } = database.client(backend);
    const locks = createLocks(backend);
    const lease = await locks.mutex('busy').acquire({ ttl: 1_000 });
    const busy = await Promise.all([pool.connect(), pool.connect()]);
    await settleWithin(
      'the loss',
      until('it is lost', () => lease.signal.aborted),
      5_000,
    );
    expect(lease.signal.reason, String(lease.signal.reason)).toMatchObject({
      code: 'LOCK_LOST',
      message: expect.stringMatching(/all 2 connections of the pool are in use, and \d+ statements? waits? for one/),
      cause: expect.objectContaining({ message: expect.stringMatching(/renew 1 hold/) }),
    });
    const failure = locks.mutex('another').tryAcquire({ ttl: 300 });
    await expect(failure).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(/all 2 connections of the pool are in use/),
    });
    for (const client of busy) client.release();
    await locks.close();
  });

  test('with a connection of our own, renewals go on', async () => {
    const backend = await database.open((pool) => postgres(pool), { max: 2 });
    const { pool } = database.client(backend);
    const claim = claimOf(`key ${systemClock.id()}`);
    await backend.attempt(claim);
    const busy = await Promise.all([pool.connect(), pool.connect()]);
    expect(await settleWithin('a renewal', backend.renew([claim]))).toEqual([{ validFor: claim.ttl }]);
    for (const client of busy) client.release();
    await backend.close();
    const left = "SELECT FROM pg_stat_activity WHERE query LIKE '%commit_renew%' AND state <> 'active'";
    await until('the connection is closed', async () => (await database.sql(left)).length === 0);
  });

  test('while a connection of our own is away, renewals go over the pool', async () => {
    let refused = 0;
    const connect = () => {
      refused++;
      throw new Error('away');
    };
    const backend = await database.open((pool) => postgres(pool, { connect }));
    const claim = claimOf(`key ${systemClock.id()}`);
    await backend.attempt(claim);
    expect(await backend.renew([claim])).toEqual([{ validFor: claim.ttl }]);
    expect(refused).toBe(1);
    await backend.close();
  });
});
