import postgresJs from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresBackend, postgres, postgresAdvisory } from '../../../src/backends/postgres/index.ts';
import { createLocks } from '../../../src/index.ts';
import { startPostgres } from '../../kit/postgres.ts';
import type { Server } from '../../kit/server.ts';
import { describeOn } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { claimOf } from './database.ts';

// The conformance suite runs over it in `npm run prove -- matrix clients postgres`.
describeOn('postgres', 'over postgres.js', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startPostgres({ fsync: 'off' });
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  type Options = Parameters<typeof postgresJs>[1];
  const opened = (options: Options = {}) => {
    const sql = postgresJs(server.url, { max: 2, onnotice: () => {}, ...options });
    const stack = new AsyncDisposableStack();
    stack.defer(() => sql.end({ timeout: 1 }));
    const backend: PostgresBackend = postgres(sql);
    stack.defer(() => backend.close());
    return { sql, backend, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  };

  test.each([
    ['as it is', {}],
    ['with columns in camel case', { transform: postgresJs.camel }],
    ['with columns in kebab case', { transform: postgresJs.kebab }],
    ['with 64-bit numbers as bigints', { types: { bigint: postgresJs.BigInt } }],
    ['without prepared statements', { prepare: false }],
  ])('a hold is taken, renewed, seen and released, %s', async (_, options) => {
    await using one = opened(options as Options);
    const claim = claimOf('a');
    expect(await one.backend.attempt(claim)).toMatchObject({ granted: true });
    expect(await one.backend.renew([claim, claimOf('b')])).toEqual([{ validFor: claim.ttl }, 'gone']);
    for await (const standing of one.backend.inspect!('a')) expect(standing).toMatchObject({ key: 'a', held: true });
    expect(await one.backend.release(claim)).toEqual({ freed: true });
  });

  test('its own LISTEN notifies a waiter of its turn, also after the server has ended that connection', async () => {
    await using one = opened();
    await using two = opened();
    const listening = async () =>
      (await one.sql`SELECT pid FROM pg_stat_activity WHERE query ILIKE 'listen "holdfast%'`).map(({ pid }) => pid);
    for (const key of ['first', 'second']) {
      const [holder, waiter] = [claimOf(key), claimOf(key)];
      await one.backend.attempt(holder);
      let notified = Promise.withResolvers<unknown>();
      // A new connection notifies, too, without a grant: messages may have been lost before it.
      await using _ = await two.backend.watch!(waiter, (grant) => grant && notified.resolve(grant));
      expect(await two.backend.attempt(waiter)).toMatchObject({ granted: false, ahead: 1 });
      await until('it listens', async () => (await listening()).length === 1);
      if (key === 'second') {
        const [before] = await listening();
        await one.sql`SELECT pg_terminate_backend(${before})`;
        await until('it listens again', async () => (await listening()).some((pid) => pid !== before));
      }
      notified = Promise.withResolvers<unknown>();
      await one.backend.release(holder);
      expect(await settleWithin('the message', notified.promise)).toMatchObject({ granted: true });
      await two.backend.release(waiter);
    }
  });

  test('locks wait, and none of their work is left on the pool', async () => {
    await using one = opened({ max: 1 });
    const locks = createLocks(one.backend);
    let inside = 0;
    const work = () =>
      locks.mutex('shared').run(async () => {
        expect(++inside).toBe(1);
        await one.sql`SELECT 1`;
        inside--;
      });
    await Promise.all([work(), work(), work()]);
    await locks.close();
  });

  test('what its owner has ended says so', async () => {
    const { sql, backend } = opened();
    await backend.attempt(claimOf('ended'));
    expect(backend.ended!()).toBe(false);
    await sql.end({ timeout: 1 });
    await expect(backend.attempt(claimOf('ended'))).rejects.toThrow();
    expect(backend.ended!()).toBe(true);
    await backend.close();
  });

  test('a connection to a server that takes no writes is given up, and a new one may lead to the new primary', async () => {
    await using one = opened({ max: 1 });
    await one.backend.attempt(claimOf('before'));
    await one.sql`SET default_transaction_read_only = on`;
    const claim = claimOf('after');
    await expect(one.backend.attempt(claim)).rejects.toThrow(/read-only, and the connection was given up/);
    // Until the driver has seen the end of the connection, it may send a statement over it.
    await until('it is granted', async () => (await one.backend.attempt(claim)).granted, 5_000);
    expect(await one.sql`SELECT 1 AS one`, 'a statement of the application').toMatchObject([{ one: 1 }]);
  });

  test('advisory locks, a transaction and a reserved connection are refused, and the reason says what to do', async () => {
    await using one = opened();
    expect(() => postgresAdvisory(one.sql as never)).toThrow(
      /sessions that report their end.*postgres\.js.*use postgres\(\)/,
    );
    const reserved = await one.sql.reserve();
    expect(() => postgres(reserved as never)).toThrow(/need a pool/);
    reserved.release();
    await one.sql.begin(async (tx) => {
      expect(() => postgres(tx as never)).toThrow(/need a pool/);
    });
    expect(() => postgres(one.sql, { ownConnection: true })).toThrow(/give `connect`/);
  });
});
