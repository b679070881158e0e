import type { RowDataPacket } from 'mysql2/promise';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type MysqlBackend, mysql } from '../../../src/backends/mysql/index.ts';
import * as sql from '../../../src/backends/mysql/sql.generated.ts';
import { mark } from '../../../src/backends/mysql/stored-queue.ts';
import type { Claim, ValueCondition } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { describeOnMysql } from '../../kit/mysql-kinds.ts';
import { claimOf } from './claims.ts';
import { Rows, seconds } from './rows.ts';
import { useServer } from './server.ts';

const ANY: ValueCondition = { age: Number.POSITIVE_INFINITY, mark: '-', counts: 0 };
/** It is not answered, so it runs. */
const NONE: ValueCondition = { ...ANY, age: -1 };
const HOUR = 3_600_000;

describeOnMysql('words of mysql, in a table of their own', (kind) => {
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
    expect(await backend.release(holder, undefined, { text, ttl })).toMatchObject({ freed: true, stored: true });
  };
  const query = async (text: string): Promise<RowDataPacket[]> => (await host.pool().query<RowDataPacket[]>(text))[0];

  test('a lock that leaves nothing makes no table for words, and asks about none', async () => {
    const backend = open();
    const [holder, waiter] = [claimOf('key'), claimOf('key')];
    await backend.attempt(holder);
    await backend.attempt(waiter);
    await backend.release(holder, claimOf('key'));
    await backend.release(waiter);
    await backend.sweep();
    expect(await query(`SHOW TABLES LIKE '${table}\\_words'`)).toEqual([]);
    await leave(backend, 'key 2');
    expect(await query(`SHOW TABLES LIKE '${table}\\_words'`), 'the first memo makes it').toHaveLength(1);
    await backend.close();
  });

  test('a sweep removes words that are over and attempts that no longer count, and no others', async () => {
    const backend = open();
    await leave(backend, 'kept');
    for (let n = 0; n < 20; n++) await leave(backend, `over ${n}`, 'x', 1);
    await backend.attempt(claimOf('counted', { ttl: 10, accepts: { ...ANY, counts: 1 } }));
    await expect.poll(async () => (await backend.values!.look('counted')).attempts).toBe(0);
    await backend.sweep();
    expect((await query(`SELECT name FROM ${table}_words`)).map(({ name }) => String(name))).toEqual(['holdfast/kept']);
    await backend.close();
  });

  test('a user from before there were words locks and sweeps on; asking for words it is told what to grant', async () => {
    const owner = open();
    await owner.setup();
    await owner.close();
    const user = `u${systemClock.id()}`.slice(0, 16);
    await query(`CREATE USER ${user}@'127.0.0.1'`);
    await query(`GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast.${table} TO ${user}@'127.0.0.1'`);
    const backend = open({}, host.pool({ user }));
    const claim = claimOf('key');
    expect(await backend.attempt(claim)).toMatchObject({ granted: true });
    expect(await backend.release(claim)).toEqual({ freed: true });
    await backend.sweep();
    const refusal = { code: 'LOCK_UNAVAILABLE', message: expect.stringMatching(/grant the user the rights/) };
    await expect(backend.attempt(asker('key'))).rejects.toMatchObject(refusal);
    await expect(backend.values!.look('key')).rejects.toMatchObject(refusal);
    await backend.close();
  });

  test('a server that takes no writes answers with no words: it may not know the newest', async () => {
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

  test('in a transaction that the application left open, no words of its old snapshot are given', async () => {
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

describeOnMysql('the statements of words', (kind) => {
  const host = useServer(kind);
  const name = Buffer.from('holdfast/key');
  let rows: Rows;
  beforeAll(async () => {
    rows = await Rows.of(host, 'said');
    await rows.table.make(sql.words);
  });
  beforeEach(async () => {
    await rows.clear();
    await rows.query('DELETE FROM said_words');
  });

  const begin = async (token: number, said = '-'): Promise<number> =>
    Number(
      (await rows.write(sql.wordsBegin, { name, token: `${token}`, mark: said, counts: `${seconds(60)}` })).insertId,
    );
  const found = async () =>
    (await rows.query('SELECT attempts, begun, token, CONVERT(mark USING utf8mb4) AS mark FROM said_words'))[0];
  const leaves = async (id: string, token: number): Promise<boolean> => {
    const values = {
      name,
      mark: mark(id),
      token: `${token}`,
      text: Buffer.from('x'),
      ttl: `${seconds(60)}`,
      fresh: '0',
    };
    return (await rows.write(sql.wordsLeave, values)).affectedRows > 0;
  };

  test('a hold that tells late of its begin changes nothing of a later hold, nor of words that one left', async () => {
    expect(await begin(4, 'a')).toBe(1);
    expect(await begin(7, 'b')).toBe(2);
    await begin(5, 'late');
    expect(await found()).toEqual({ attempts: 2, begun: 7, token: 0, mark: 'b' });
    const now = await rows.now();
    await rows.put(`${name}`, { token: 9, line: `${mark('id')}${now + seconds(60)} 9 1 1 60000000 ${now} - ;` });
    expect(await leaves('id', 9)).toBe(true);
    await begin(8, 'late');
    expect(await found()).toEqual({ attempts: 0, begun: 8, token: 9, mark: '-' });
    expect(await begin(10, 'c'), 'the first after the words').toBe(1);
  });

  test('only the first in a line leaves words, while it has not expired, and the others stay as they are', async () => {
    const now = await rows.now();
    const place = (id: string, until: number, token: number) => `${mark(id)}${until} ${token} 1 1 60000000 ${now} - ;`;
    const line = place('first', now + seconds(60), 3) + place('second', now + seconds(60), 4);
    await rows.put(`${name}`, { token: 4, line });
    await rows.write(sql.wordsRow, { name });
    expect(await leaves('second', 4), 'one that waits').toBe(false);
    expect(await leaves('first', 3)).toBe(true);
    expect((await rows.all())[`${name}`]).toMatchObject({ token: 4, line: place('second', now + seconds(60), 4) });
    await rows.put(`${name}`, { token: 5, line: place('dead', now - seconds(1), 5) });
    expect(await leaves('dead', 5), 'one that has expired').toBe(false);
    expect(await found()).toMatchObject({ token: 3 });
  });
});
