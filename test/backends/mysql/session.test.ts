import { beforeAll, expect, test } from 'vitest';
import { mysql } from '../../../src/backends/mysql/index.ts';
import * as sql from '../../../src/backends/mysql/sql.generated.ts';
import { asText, bare } from '../../../src/backends/mysql/statements.ts';
import { describeOnMysql } from '../../kit/mysql-kinds.ts';
import { until } from '../../kit/wait.ts';
import { Rows, seconds } from './rows.ts';
import { useServer } from './server.ts';

const HOUR = 3_600_000;

describeOnMysql('a session of mysql, as statements see it', (kind) => {
  const host = useServer(kind);
  let rows: Rows;

  beforeAll(async () => {
    rows = await Rows.of(host, 'seen', 1);
  });

  /** What a statement says of its time, twice, with 50 ms in between; and what the time was around it. @param ahead of ours, ms */
  const times = async (expression: string, ahead = 0) => {
    const began = (Date.now() + ahead) * 1_000;
    if (ahead !== 0) await rows.query(`SET timestamp = ${began / 1e6}`);
    const time = bare(expression);
    const [row] = await rows.query(`SELECT ${time} AS first, SLEEP(0.05) AS slept, ${time} AS second`);
    return { began, first: Number(row!.first), second: Number(row!.second), ended: (Date.now() + ahead + 1) * 1_000 };
  };
  const SLEPT = 50_000 - 100;

  test.each([
    ['earliest', sql.earliest],
    ['latest', sql.latest],
  ])('the %s time goes on during a statement, and is the same in every time zone', async (_, text) => {
    for (const zone of ['+00:00', '-11:30', '+05:45', 'SYSTEM']) {
      await rows.query(`SET time_zone = '${zone}'`);
      const { began, first, second, ended } = await times(text);
      expect(first, `µs at first, in the zone ${zone}`).toBeGreaterThanOrEqual(began - 1);
      expect(second - first, `µs in between, in the zone ${zone}`).toBeGreaterThanOrEqual(SLEPT);
      expect(second, `µs at the end, in the zone ${zone}`).toBeLessThanOrEqual(ended);
    }
  });

  // The local time is then as far from that of the start of the statement as after such a change.
  test.each([
    -1, -0.5, 0.5, 1,
  ])('where clocks change by %d h during a statement, no lease is shorter', async (hours) => {
    const earliest = await times(sql.earliest, -hours * HOUR);
    const latest = await times(sql.latest, -hours * HOUR);
    await rows.query('SET timestamp = DEFAULT');
    for (const { second, ended } of [earliest, latest])
      expect(second, 'µs, of the true time').toBeLessThanOrEqual(ended);
    expect(latest.first, 'µs, of the true time').toBeGreaterThanOrEqual(latest.began - 1);
    if (hours > 0) {
      expect(earliest.second, 'µs, of the true time').toBeGreaterThanOrEqual(earliest.began + SLEPT);
      expect(latest.second, 'µs, of the true time').toBeGreaterThanOrEqual(latest.began + SLEPT);
    }
  });

  test('the kinds of what is open on a session differ', async () => {
    const open = async () => {
      const [row] = await rows.query(`SELECT ${bare(sql.open)} AS open`);
      return row!.open === null ? null : Number(row!.open);
    };
    const [nothing, transaction] = kind.name === 'MariaDB' ? [0, 1] : [null, null];
    expect(await open(), 'nothing').toBe(nothing);
    await rows.query('START TRANSACTION');
    expect(await open(), 'a transaction').toBe(transaction);
    await rows.query('ROLLBACK');
    await rows.query('SET autocommit = 0');
    expect(await open(), 'autocommit off').toBe(2);
    await rows.query('SET autocommit = 1');
    expect(await open(), 'nothing any more').toBe(nothing);
  });
});

describeOnMysql('a named lock of mysql, as statements see it', (kind) => {
  const host = useServer(kind);
  const KEY = {
    database: '',
    relation: 'holdfast_lines',
    name: Buffer.from('holdfast/key'),
    own: 'holdfast:of one session',
  };
  let one: Rows;
  let other: Rows;

  beforeAll(async () => {
    [one, other] = [await Rows.of(host, 'named', 1), await Rows.of(host, 'named', 1)];
  });

  const got = async (rows: Rows, lock = KEY, within = seconds(60), wait = '0') => {
    const notAfter = `${(await rows.now()) + within}`;
    const own = rows === one ? KEY.own : 'holdfast:of another session';
    return (await rows.read(sql.getLock, { ...lock, own, wait, notAfter }))[0]!.got;
  };
  const freed = async (rows: Rows, lock = KEY) => (await rows.read(sql.releaseLock, lock))[0]!.freed;
  const mine = async (rows: Rows) => (await rows.read(sql.ownsLock, KEY))[0]!.mine;

  test('one session has it, says that it is its own, and alone frees it', async () => {
    expect(await mine(one), 'while nobody has it').toBeNull();
    expect(await got(one)).toBe(1);
    expect(await got(other), 'a second session').toBe(0);
    expect([await mine(one), await mine(other)]).toEqual([1, 0]);
    expect(await freed(other), 'by a session that has it not').toBe(0);
    expect(await freed(one)).toBe(1);
    expect(await freed(one), 'once it is free').toBeNull();
  });

  test('an attempt that comes too late is refused as late, and has nothing', async () => {
    expect(await got(one, KEY, -seconds(1))).toBe(-1);
    expect(await mine(one)).toBeNull();
    expect(await got(other), 'it is free').toBe(1);
    expect(await freed(other)).toBe(1);
  });

  test('another key, and the same key of another table or database, is another lock', async () => {
    expect(await got(one)).toBe(1);
    for (const lock of [
      { ...KEY, name: Buffer.from('holdfast/other') },
      { ...KEY, database: 'elsewhere' },
      { ...KEY, relation: 'elsewhere' },
    ]) {
      expect(await got(other, lock), JSON.stringify(lock)).toBe(1);
      expect(await freed(other, lock)).toBe(1);
    }
    expect(await got(other, { ...KEY, database: 'holdfast' }), 'the database of the session, by its name').toBe(0);
    expect(await freed(one)).toBe(1);
  });

  test('a session is ended if it has the lock, and no other is', async () => {
    const idOf = async (rows: Rows) => String((await rows.query('SELECT CONNECTION_ID() AS id'))[0]!.id);
    const end = (session: string, by = other) => by.table.server.kill(asText(sql.killOwner, { session }, KEY));
    expect(await got(one)).toBe(1);
    for (const session of [await idOf(other), '4000000000'])
      await expect(end(session), `of ${session}`).rejects.toMatchObject({
        errno: 1094,
        message: 'Unknown thread id: 0',
      });
    expect(await mine(one), 'after others were to be ended').toBe(1);
    const answer = got(other, KEY, seconds(60), '20');
    await host
      .pool()
      .query(`KILL ${await idOf(one)}`)
      .catch(() => {});
    expect(await answer, 'once the session that had it is over').toBe(1);
    const third = await Rows.of(host, 'named', 1);
    await end(await idOf(other), third);
    expect(await got(third, KEY, seconds(60), '20'), 'once its owner was ended').toBe(1);
    expect(await freed(third)).toBe(1);
  });

  test('a session that waits has a lock of its own, by which it is ended, until the wait is over', async () => {
    const third = await Rows.of(host, 'named', 1);
    const waiter = (await one.query('SELECT CONNECTION_ID() AS id'))[0]!.id;
    const end = (lock: typeof KEY) => third.table.server.kill(asText(sql.killOwner, { session: String(waiter) }, lock));
    const owner = async () => (await third.query(`SELECT IS_USED_LOCK('${KEY.own}') AS id`))[0]!.id;
    expect(await got(one), 'it waits for nothing').toBe(1);
    expect(await owner(), 'after the wait').toBeNull();
    expect(await freed(one)).toBe(1);
    expect(await got(other)).toBe(1);
    const answer = got(one, KEY, seconds(60), '20').then(
      () => 'the wait ran out',
      () => 'ended',
    );
    await until('it waits', async () => (await owner()) === waiter);
    const stranger = { ...KEY, own: 'holdfast:of a stranger' };
    await expect(end(stranger), 'by the lock of another session').rejects.toMatchObject({ errno: 1094 });
    expect(await owner(), 'of its lock, after another session was to be ended').toBe(waiter);
    await end(KEY);
    expect(await answer).toBe('ended');
    expect(await freed(other)).toBe(1);
  });
});

describeOnMysql('mysql on a server whose time stands still during a statement', (kind) => {
  const host = useServer(kind, { 'sysdate-is-now': '1' });

  test('check() says so', async () => {
    const backend = mysql(host.pool(), { table: 'still' });
    expect((await backend.check()).map(({ code }) => code)).toContain('sysdate-is-now');
    await backend.close();
  });
});
