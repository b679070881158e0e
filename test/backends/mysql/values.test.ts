import type { RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type MysqlBackend, mysql } from '../../../src/backends/mysql/index.ts';
import type { Claim, ValueCondition } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { describeOnMysql } from '../../kit/mysql-kinds.ts';
import { claimOf } from './claims.ts';
import { placeOf, Rows, seconds } from './rows.ts';
import { useServer } from './server.ts';

const ANY: ValueCondition = { age: Number.POSITIVE_INFINITY, mark: '-', counts: 0 };
/** It is not answered, so it runs. */
const NONE: ValueCondition = { ...ANY, age: -1 };
const HOUR = 3_600_000;

describeOnMysql('values of mysql, in the rows of their keys', (kind) => {
  const host = useServer(kind);
  let table: string;
  beforeEach(() => {
    table = `t${systemClock.id()}`.slice(0, 20);
  });

  const open = (options: object = {}, pool = host.pool()): MysqlBackend => mysql(pool, { table, ...options });
  const asker = (key: string, accepts = ANY): Claim => claimOf(key, { accepts });
  const leave = async (backend: MysqlBackend, key: string, text = 'result', ttl = HOUR): Promise<void> => {
    const holder = asker(key, NONE);
    expect(await backend.attempt(holder)).toMatchObject({ granted: true });
    expect(await backend.store!(holder, { text, ttl })).toBe(true);
  };
  const query = async (text: string): Promise<RowDataPacket[]> => (await host.pool().query<RowDataPacket[]>(text))[0];

  test('a hint is read until its time is over, and the last one that is written under a name counts', async () => {
    const backend = open({ idle: 1 });
    const { hints } = backend;
    await hints!.write('another', 'x', HOUR);
    expect(await hints!.read('hint')).toBe(undefined);
    await hints!.write('hint', 'first', HOUR);
    await hints!.write('hint', 'second', HOUR);
    expect(await hints!.read('hint')).toBe('second');
    expect(await backend.values!.look('hint'), 'a key of that name').toMatchObject({ attempts: 0 });
    await hints!.write('hint', 'third', 1);
    await expect.poll(() => hints!.read('hint')).toBe(undefined);
    await hints!.write('hint', 'fourth', HOUR);
    await hints!.write('hint', undefined, 0);
    expect(await hints!.read('hint'), 'once it is forgotten').toBe(undefined);
    await expect.poll(() => backend.sweep(), { message: 'the rows that the sweep removes' }).toBe(1);
    expect(await hints!.read('another')).toBe('x');
    await backend.close();
  });

  test('a sweep keeps the rows of values that are not over, and of attempts that count', async () => {
    const backend = open({ idle: 1 });
    await leave(backend, 'kept');
    for (let n = 0; n < 20; n++) await leave(backend, `over ${n}`, 'x', 1);
    const attempt = claimOf('counted', { ttl: 10, accepts: { ...ANY, counts: 1 } });
    await backend.attempt(attempt);
    await backend.release(attempt);
    const counting = claimOf('counting', { ttl: 10, accepts: { ...ANY, counts: HOUR } });
    await backend.attempt(counting);
    await backend.release(counting);
    await expect.poll(async () => (await backend.values!.look('counted')).attempts).toBe(0);
    await new Promise((resume) => setTimeout(resume, 20));
    expect(await backend.sweep()).toBe(21);
    const left = await query(`SELECT name FROM ${table} WHERE name <> '' ORDER BY name`);
    expect(left.map(({ name }) => String(name))).toEqual(['holdfast/counting', 'holdfast/kept']);
    await backend.close();
  });

  test('a server that takes no writes answers with no value: it may not know the newest', async () => {
    const backend = open({}, host.pool({ connectionLimit: 1 }));
    await leave(backend, 'key');
    await query('SET GLOBAL read_only = 1');
    try {
      await expect(backend.attempt(asker('key'))).rejects.toThrow(/takes no writes/);
      await expect(backend.values!.look('key')).rejects.toThrow(/takes no writes/);
    } finally {
      await query('SET GLOBAL read_only = 0');
    }
    expect(await backend.attempt(asker('key'))).toMatchObject({ value: { text: 'result' } });
    await backend.close();
  });

  test('in a transaction that the application left open, no value of its old snapshot are given', async () => {
    const [pool, other] = [host.pool({ connectionLimit: 1 }), open()];
    const backend = open({}, pool);
    await leave(backend, 'key', 'old');
    const connection = await pool.getConnection();
    await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
    connection.release();
    await leave(other, 'key', 'new');
    const answer = () => backend.attempt(asker('key')).catch(() => undefined);
    await expect.poll(answer, { timeout: 10_000 }).toMatchObject({ value: { text: 'new' } });
    await backend.close();
    await other.close();
  });
});

describeOnMysql('a value of mysql, in the row of a queue', (kind) => {
  const host = useServer(kind);
  const name = 'holdfast/key';
  let rows: Rows;
  let backend: MysqlBackend;
  beforeAll(async () => {
    rows = await Rows.of(host, 'said');
    backend = mysql(host.pool(), { table: 'said' });
  });
  afterAll(() => backend.close());
  beforeEach(() => rows.clear());

  const stores = async (id: string): Promise<boolean> =>
    await backend.store!({ key: 'key', id }, { text: 'x', ttl: 60_000 });

  test('only the first in a queue stores a value, while it has not expired, and the others stay as they are', async () => {
    const now = await rows.now();
    const [first, second] = [placeOf('first', now + seconds(30), 3), placeOf('second', now + seconds(30), 4)];
    await rows.put(name, { token: 4, queue: first + second });
    expect(await stores('second'), 'one that waits').toBe(false);
    await rows.put(name, { token: 4, queue: first + second });
    expect(await stores('first')).toBe(true);
    const { token, queue } = (await rows.all())[name]!;
    expect({ token, begins: queue.split(' ')[0], claims: queue.split(';').length - 1 }).toEqual({
      ...{ token: 4, begins: '@second', claims: 1 },
    });
    const { value: stored } = await backend.values!.look('key');
    expect(stored).toMatchObject({ text: 'x', token: 3n });
    expect(stored!.validFor).toBeGreaterThan(59_000);
    expect(stored!.validFor).toBeLessThanOrEqual(60_001);
    await rows.put(name, { token: 5, queue: placeOf('dead', now - seconds(1), 5) });
    expect(await stores('dead'), 'one that has expired').toBe(false);
  });
});
