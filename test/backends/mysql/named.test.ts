import { createPool, type Pool } from 'mysql2/promise';
import { afterEach, expect, test } from 'vitest';
import { mysqlNamed } from '../../../src/backends/mysql/index.ts';
import type { Backend, Grant } from '../../../src/core/contract/backend.ts';
import { type Clock, systemClock } from '../../../src/core/contract/clock.ts';
import { createLocks } from '../../../src/index.ts';
import { describeOnMysql } from '../../kit/mysql-kinds.ts';
import { startProxy } from '../../kit/proxy.ts';
import { describeConformance } from '../../kit/suite.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { claimOf, median } from './claims.ts';
import { useServer } from './server.ts';
import { subject } from './subject.ts';

describeOnMysql('mysqlNamed', (kind) => {
  const host = useServer(kind);
  const open: Backend[] = [];
  const named = (connectionLimit = 10): Backend => {
    const backend = mysqlNamed(host.pool({ connectionLimit }));
    open.push(backend);
    return backend;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((backend) => backend.close()));
  });

  // Every hold is a connection, and one case holds many.
  describeConformance(
    subject('mysqlNamed', host, (pool, prefix) => mysqlNamed(pool, { prefix }), { connectionLimit: 120 }),
  );

  const sessions = async (): Promise<{ id: number; info: string | null }[]> => {
    const sql = 'SELECT ID AS id, INFO AS info FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID()';
    return (await host.pool().query(sql))[0] as { id: number; info: string | null }[];
  };
  const isFree = async (key: string): Promise<boolean> => {
    const other = named(1);
    const claim = claimOf(key);
    const { granted } = await other.attempt(claim);
    await other.release(claim);
    return granted;
  };

  test('a killed connection is a lost hold, reported at once, and the next holder has a higher token', async () => {
    const holder = named(1);
    const claim = claimOf('killed');
    const before = new Set((await sessions()).map(({ id }) => id));
    const grant = (await holder.attempt(claim)) as Grant;
    const mine = (await sessions()).filter(({ id }) => !before.has(id));
    for (const { id } of mine) await host.pool().query(`KILL ${id}`);
    await until('the loss is reported', () => grant.lost!.aborted);
    expect(await holder.renew([claim])).toEqual(['gone']);
    expect(await holder.release(claim)).toMatchObject({ freed: false });
    const next = (await named().attempt(claimOf('killed'))) as Grant;
    expect(next.granted).toBe(true);
    expect(next.token).toBeGreaterThan(grant.token);
  });

  test('a claim that stops waiting leaves neither a wait on the server nor a lock in the pool', async () => {
    const [holder, waiter] = [named(), named(2)];
    const claim = claimOf('left');
    expect(await holder.attempt(claim)).toMatchObject({ granted: true });
    const waiting = claimOf('left');
    expect(await waiter.attempt(waiting)).toEqual({ granted: false });
    const watch = await waiter.watch!(waiting, () => {});
    const waits = async (): Promise<boolean> => (await sessions()).some(({ info }) => /GET_LOCK/.test(info ?? ''));
    await until('the server waits', waits);
    await watch[Symbol.asyncDispose]();
    await waiter.release(waiting);
    await until('the server waits no more', async () => !(await waits()));
    await holder.release(claim);
    expect(await isFree('left')).toBe(true);
  });

  test('another table is another set of locks: it has other tokens', async () => {
    const inTable = (table: string): Backend => {
      const backend = mysqlNamed(host.pool(), { table });
      open.push(backend);
      return backend;
    };
    const [one, other, alike] = [inTable('tokens_one'), inTable('tokens_other'), inTable('Tokens_One')];
    const holder = claimOf('tables');
    expect(await one.attempt(holder)).toMatchObject({ granted: true, token: 1n });
    expect(await other.attempt(claimOf('tables'))).toMatchObject({ granted: true, token: 1n });
    // On many servers these two names are one table.
    expect(await alike.attempt(claimOf('tables'))).toMatchObject({ granted: false });
    await one.release(holder);
  });

  test('a waiting session that is killed starts to wait again', async () => {
    const [holding, waiting] = [createLocks(named()), createLocks(named())];
    const lease = await holding.mutex('again').acquire();
    const next = waiting.mutex('again').acquire();
    const waits = async () => (await sessions()).find(({ info }) => /GET_LOCK/.test(info ?? ''))?.id;
    await until('the server waits', async () => (await waits()) !== undefined);
    const first = await waits();
    await host.pool().query(`KILL ${first}`);
    await until('the server waits again', async () => ![first, undefined].includes(await waits()));
    await lease.release();
    await (await settleWithin('the grant', next)).release();
  });

  test('a wait that the server interrupts keeps no connection of the pool', async () => {
    const [holder, waiter] = [named(), named(1)];
    expect(await holder.attempt(claimOf('interrupted'))).toMatchObject({ granted: true });
    const woken = Promise.withResolvers<void>();
    await waiter.watch!(claimOf('interrupted'), () => woken.resolve());
    const waiting = async () => (await sessions()).find(({ info }) => /GET_LOCK/.test(info ?? ''));
    await until('the server waits', async () => (await waiting()) !== undefined);
    await host.pool().query(`KILL QUERY ${(await waiting())!.id}`);
    await settleWithin('the wake', woken.promise);
    expect(await settleWithin('a connection', waiter.attempt(claimOf('other')))).toMatchObject({ granted: true });
  });

  test('a lock is not kept where there is no token for it, since somebody emptied the table', async () => {
    const table = 'emptied';
    const [holder, next] = [1, 2].map(() => mysqlNamed(host.pool({ connectionLimit: 1 }), { table }));
    open.push(holder!, next!);
    const first = claimOf('before');
    await holder!.attempt(first);
    await holder!.release(first);
    await host.pool().query(`DELETE FROM ${table}`);
    await expect(holder!.attempt(claimOf('emptied'))).rejects.toThrow(/token/);
    await until('others can have it', async () => (await next!.attempt(claimOf('emptied'))).granted);
  });

  test("the wait is the server's, not a poll's", async () => {
    const [one, two] = [named(), named()];
    const times: number[] = [];
    for (let i = 0; i < 21; i++) {
      const [first, second] = [claimOf('quick'), claimOf('quick')];
      await one.attempt(first);
      await two.attempt(second);
      let woken = (): void => {};
      const notified = new Promise<number>((resolve) => {
        woken = () => resolve(performance.now());
      });
      await two.watch!(second, () => woken());
      await until('the server waits', async () => (await sessions()).some(({ info }) => /GET_LOCK/.test(info ?? '')));
      const start = performance.now();
      await one.release(first);
      times.push((await notified) - start);
      expect(await two.attempt(second)).toMatchObject({ granted: true });
      await two.release(second);
    }
    expect(median(times), 'median of the hand-overs, where core would ask after 2,000 ms').toBeLessThan(600);
  });

  test('a claim that loses its session ends no session of the server that came after', async () => {
    await using stack = new AsyncDisposableStack();
    const own = stack.use(await kind.start());
    const link = stack.use(await startProxy(own.port));
    const pool = (port: number): Pool => {
      const made = createPool({ uri: own.url, port });
      stack.defer(() => made.end());
      return made;
    };
    const holder = mysqlNamed(pool(link.port));
    stack.defer(() => holder.close());
    const grant = (await holder.attempt(claimOf('before'))) as Grant;
    const sql = 'SELECT ID AS id, INFO AS info FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID()';
    const before = Math.max(...((await pool(own.port).query(sql))[0] as { id: number }[]).map(({ id }) => id));
    link.blackhole(); // without a word, as when another server takes over the address
    await own.kill();
    await own.restart();
    const others = pool(own.port);
    const later = await Promise.all(Array.from({ length: 10 }, () => others.getConnection()));
    expect(later.map(({ threadId }) => threadId)).toContain(before);
    expect(grant.lost!.aborted, 'it is not known yet').toBe(false);
    await link.pass();
    link.cut();
    await until('the loss is reported', () => grant.lost!.aborted);
    await until('it can be had again', async () => (await holder.attempt(claimOf('before'))).granted);
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const connection of later) await connection.ping();
    for (const connection of later) connection.release();
  });

  test('a claim that stops waiting ends no session of the server that has taken over', async () => {
    await using stack = new AsyncDisposableStack();
    const [old, next] = await Promise.all([kind.start(), kind.start()]);
    for (const server of [old, next]) stack.use(server);
    const address = stack.use(await startProxy(old.port));
    const pool = (port: number, connectionLimit: number): Pool => {
      const made = createPool({ uri: old.url, port, connectionLimit });
      stack.defer(() => made.end());
      return made;
    };
    const borrow = (from: Pool, count: number) =>
      Promise.all(Array.from({ length: count }, () => from.getConnection()));
    const [before, after] = [pool(old.port, 20), pool(next.port, 60)];
    for (const connection of await borrow(before, 20)) connection.release();
    const [holder, waiter] = [mysqlNamed(before), mysqlNamed(pool(address.port, 1))];
    stack.defer(() => holder.close());
    stack.defer(() => waiter.close());
    await holder.attempt(claimOf('moved'));
    const watch = await waiter.watch!(claimOf('moved'), () => {});
    const waits = async (): Promise<number | undefined> => {
      const sql =
        "SELECT ID AS id FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND INFO LIKE '%GET_LOCK%'";
      return ((await before.query(sql))[0] as { id: number }[])[0]?.id;
    };
    let session: number | undefined; // one look, since a wait begins again after some time
    await until('the server waits', async () => {
      session = await waits();
      return session !== undefined;
    });
    const strangers = await borrow(after, 50);
    expect(strangers.map(({ threadId }) => threadId)).toContain(session);
    address.target = next.port;
    await watch[Symbol.asyncDispose]();
    const kills = async (): Promise<number> => {
      const [rows] = await after.query("SHOW GLOBAL STATUS LIKE 'Com_kill'");
      return Number((rows as { Value: string }[])[0]!.Value);
    };
    await until('the new server was asked to end a session', async () => (await kills()) > 0);
    for (const stranger of strangers) await stranger.ping();
    for (const stranger of strangers) stranger.release();
  });

  test('a hold over a pool that speaks bytes is looked at no more often than others', async () => {
    const pauses: number[] = [];
    const clock: Clock = {
      ...systemClock,
      after: (ms, ...rest) => {
        pauses.push(ms);
        return systemClock.after(ms, ...rest);
      },
    };
    const backend = mysqlNamed(host.pool({ charset: 'binary' }), { clock });
    open.push(backend);
    await backend.attempt(claimOf('bytes'));
    await new Promise(setImmediate);
    expect(pauses).toContain(10_000);
  });

  test('the death of the server is reported, and nothing throws', async () => {
    const holder = named(2);
    const grant = (await holder.attempt(claimOf('down'))) as Grant;
    const waiting = claimOf('down');
    await holder.watch!(waiting, () => {});
    await host.server.kill();
    await until('the loss is reported', () => grant.lost!.aborted);
    await expect(holder.attempt(claimOf('other'))).rejects.toThrow();
    await host.server.restart();
    const next = (await named().attempt(claimOf('down'))) as Grant;
    expect(next.token).toBeGreaterThan(grant.token);
  });
});

describeOnMysql('mysqlNamed where the server ends idle sessions after a second', (kind) => {
  const host = useServer(kind, { 'wait-timeout': '1', 'interactive-timeout': '1' });

  test('a hold is kept alive, also where the pool has no connection left to look at the table again', async () => {
    let ahead = 0;
    const clock: Clock = { ...systemClock, now: () => systemClock.now() + ahead };
    const backend = mysqlNamed(host.pool({ connectionLimit: 1 }), { clock });
    const claim = claimOf('crowded');
    const grant = (await backend.attempt(claim)) as Grant;
    ahead = 600_000; // the table was last looked at ten minutes ago
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(grant.lost!.aborted).toBe(false);
    expect(await backend.release(claim)).toMatchObject({ freed: true });
    await backend.close();
  });

  test('a hold is kept alive', async () => {
    const backend = mysqlNamed(host.pool());
    const claim = claimOf('kept');
    const grant = (await backend.attempt(claim)) as Grant;
    const other = host.pool();
    const end = performance.now() + 3_000;
    await until('three seconds go by', async () => {
      const rival = mysqlNamed(other);
      expect(await rival.attempt(claimOf('kept'))).toEqual({ granted: false });
      await rival.close();
      return performance.now() > end;
    });
    expect(grant.lost!.aborted).toBe(false);
    expect(await backend.release(claim)).toMatchObject({ freed: true });
    await backend.close();
  });
});
