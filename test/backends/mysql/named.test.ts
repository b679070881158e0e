import { afterEach, expect, test } from 'vitest';
import { mysqlNamed } from '../../../src/backends/mysql/index.ts';
import type { Backend, Grant } from '../../../src/core/backend.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { claimOf, median } from './claims.ts';
import { useMariadb } from './server.ts';
import { subject } from './subject.ts';

describeOn('mysql', 'mysqlNamed', () => {
  const mariadb = useMariadb();
  const open: Backend[] = [];
  const named = (connectionLimit = 10): Backend => {
    const backend = mysqlNamed(mariadb.pool({ connectionLimit }));
    open.push(backend);
    return backend;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((backend) => backend.close()));
  });

  // Every hold is a connection, and one case holds many.
  describeConformance(
    subject('mysqlNamed', mariadb, (pool, prefix) => mysqlNamed(pool, { prefix }), { connectionLimit: 120 }),
  );

  const sessions = async (): Promise<{ id: number; info: string | null }[]> => {
    const sql = 'SELECT ID AS id, INFO AS info FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID()';
    return (await mariadb.pool().query(sql))[0] as { id: number; info: string | null }[];
  };
  const isFree = async (key: string): Promise<boolean> => {
    const other = named(1);
    const claim = claimOf(key);
    const { granted } = await other.attempt(claim);
    await other.release(claim);
    return granted;
  };

  test('a killed connection is a lost hold, told at once, and the next holder has a higher token', async () => {
    const holder = named(1);
    const claim = claimOf('killed');
    const before = new Set((await sessions()).map(({ id }) => id));
    const grant = (await holder.attempt(claim)) as Grant;
    const mine = (await sessions()).filter(({ id }) => !before.has(id));
    for (const { id } of mine) await mariadb.pool().query(`KILL ${id}`);
    await until('the loss is told', () => grant.lost!.aborted);
    expect(await holder.renew([claim])).toEqual(['gone']);
    expect(await holder.release(claim)).toMatchObject({ freed: false });
    const next = (await named().attempt(claimOf('killed'))) as Grant;
    expect(next.granted).toBe(true);
    expect(next.ticket).toBeGreaterThan(grant.ticket);
  });

  test('whoever stops waiting leaves neither a wait on the server nor a lock in the pool', async () => {
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
    await until('the server waits no more', async () => !(await waits()), 2_000);
    await holder.release(claim);
    expect(await isFree('left')).toBe(true);
  });

  test("the wait is the server's, not a poll's", async () => {
    const [one, two] = [named(), named()];
    const times: number[] = [];
    for (let i = 0; i < 21; i++) {
      const [first, second] = [claimOf('quick'), claimOf('quick')];
      await one.attempt(first);
      await two.attempt(second);
      let woken = (): void => {};
      const told = new Promise<number>((resolve) => {
        woken = () => resolve(performance.now());
      });
      await two.watch!(second, () => woken());
      await until('the server waits', async () => (await sessions()).some(({ info }) => /GET_LOCK/.test(info ?? '')));
      const start = performance.now();
      await one.release(first);
      times.push((await told) - start);
      expect(await two.attempt(second)).toMatchObject({ granted: true });
      await two.release(second);
    }
    expect(median(times), 'median of the hand-overs, where core would ask after 2,000 ms').toBeLessThan(200);
  });

  test('the death of the server is told, and nothing throws', async () => {
    const holder = named(2);
    const grant = (await holder.attempt(claimOf('down'))) as Grant;
    const waiting = claimOf('down');
    await holder.watch!(waiting, () => {});
    await mariadb.server.kill();
    await until('the loss is told', () => grant.lost!.aborted);
    await expect(holder.attempt(claimOf('other'))).rejects.toThrow();
    await mariadb.server.restart();
    const next = (await named().attempt(claimOf('down'))) as Grant;
    expect(next.ticket).toBeGreaterThan(grant.ticket);
  });
});

describeOn('mysql', 'mysqlNamed where the server ends idle sessions after a second', () => {
  const mariadb = useMariadb({ 'wait-timeout': '1', 'interactive-timeout': '1' });

  test('a hold is kept alive', async () => {
    const backend = mysqlNamed(mariadb.pool());
    const claim = claimOf('kept');
    const grant = (await backend.attempt(claim)) as Grant;
    const other = mariadb.pool();
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
