import { beforeAll, beforeEach, expect, test } from 'vitest';
import * as sql from '../../../src/backends/mysql/sql.generated.ts';
import { nameList } from '../../../src/backends/mysql/statements.ts';
import { mark } from '../../../src/backends/mysql/stored-queue.ts';
import { describeOnMysql } from '../../kit/mysql-kinds.ts';
import { numbersTo, placeOf, Rows, type Stored, seconds } from './rows.ts';
import { useServer } from './server.ts';

const KEY = Buffer.from('holdfast/key');
/** As `open` of server.sql gives it. */
const NOTHING_OPEN = { MariaDB: '0', MySQL: null };
const BESIDE: Stored = { queue: '@beside 9000000000000000 4 1 1 30000000 1 - ;', token: 4, used: 5 };

describeOnMysql('the rows of keys of mysql, as its statements leave them', (kind) => {
  // What a queue may be is then for its column to say.
  const host = useServer(kind, { 'max-allowed-packet': '67108864' });
  let rows: Rows;
  let now: number;

  beforeAll(async () => {
    rows = await Rows.of(host, 'kept_keys');
  });
  beforeEach(async () => {
    await rows.clear();
    await rows.put('holdfast/beside', BESIDE);
    now = await rows.now();
  });

  /** Of the keys but the one beside, which is as it was. */
  const others = async (): Promise<Record<string, Stored>> => {
    const { 'holdfast/beside': beside, ...found } = await rows.all();
    expect(beside, 'the row of another key').toEqual(BESIDE);
    return found;
  };
  const one = async (): Promise<Stored> => (await others())[String(KEY)]!;
  const namesIn = (found: readonly Readonly<Record<string, unknown>>[]): string[] =>
    found.map(({ name }) => String(name));

  test('a table that was just made has given no token, and is founded once', async () => {
    const made = await Rows.of(host, 'just_made');
    expect(await made.own()).toMatchObject({ token: 0, queue: 'holdfast 1' });
    await made.write(sql.floor, { token: '41' });
    expect(await made.write(sql.found, { format: 'another' })).toMatchObject({ affectedRows: 0 });
    expect(await made.own()).toMatchObject({ token: 41, queue: 'holdfast 1' });
  });

  test('the row of a new key starts from the floor, and a row that is there keeps what it has', async () => {
    await rows.write(sql.floor, { token: '41' });
    await rows.write(sql.create, { name: KEY });
    expect(await one()).toMatchObject({ token: 41, queue: '' });
    expect((await one()).used, 'when it was made').toBeGreaterThanOrEqual(now);
    expect((await one()).used, 'when it was made').toBeLessThan(now + seconds(20));
    const queue = placeOf('old', now);
    await rows.put(String(KEY), { token: 7, queue, used: 3 });
    await rows.write(sql.create, { name: KEY });
    expect(await one()).toMatchObject({ token: 7, queue });
    expect((await one()).used, 'when it was used').toBeGreaterThanOrEqual(now);
  });

  test('the floor only rises, and no row of a key with it', async () => {
    for (const [token, floor] of [
      [41, 41],
      [40, 41],
      [42, 42],
    ] as const) {
      await rows.write(sql.floor, { token: `${token}` });
      expect((await rows.own()).token).toBe(floor);
    }
    expect(await others()).toEqual({});
  });

  test('the tokens of a named lock rise one by one, or to where they must be at least', async () => {
    expect(await rows.write(sql.token, { name: KEY, minToken: '0' })).toMatchObject({ affectedRows: 0 });
    await rows.put(String(KEY), { token: 7 });
    for (const [minToken, token] of [
      [0, 8],
      [9, 9],
      [3, 10],
      [20, 20],
      [20, 21],
    ] as const) {
      const header = await rows.write(sql.token, { name: KEY, minToken: `${minToken}` });
      expect(header).toMatchObject({ affectedRows: 1, insertId: token });
      expect(await one()).toMatchObject({ token, queue: '' });
    }
    expect((await one()).used, 'when it was used').toBeGreaterThanOrEqual(now);
    expect((await rows.own()).token, 'the floor').toBe(0);
  });

  test('it is the turn of one process in each interval, and that is written in the row of the table alone', async () => {
    const turn = () => rows.write(sql.turn, { interval: `${seconds(60)}` });
    const format = 'holdfast 1';
    await rows.put('', { queue: format, used: now - seconds(30) });
    expect(await turn(), 'within the interval').toMatchObject({ affectedRows: 0 });
    await rows.put('', { queue: format, used: now - seconds(61) });
    expect(await turn(), 'after the interval').toMatchObject({ affectedRows: 1 });
    expect((await rows.own()).used).toBeGreaterThanOrEqual(now);
    expect(await turn(), 'at once again').toMatchObject({ affectedRows: 0 });
    expect(await others()).toEqual({});
  });

  test('a sweep comes by all keys, page by page', async () => {
    const made = await Rows.of(host, 'paged');
    await made.query(
      `INSERT INTO paged SELECT CONCAT('key/', LPAD(seq, 5, 0)), 1, 0, '', '', 0 FROM ${numbersTo(2_005)}`,
    );
    const page = async (after: string) => {
      const [row] = await made.read(sql.page, { after: Buffer.from(after) });
      return row!.last === null ? null : String(row!.last);
    };
    expect(await page('')).toBe('key/02000');
    expect(await page('key/02000')).toBe('key/02005');
    expect(await page('key/02005')).toBeNull();
  });

  test('of a page those keys are found that nobody has used for as long as is said', async () => {
    const old = now - seconds(61);
    for (const [name, used] of [
      ['a', old],
      ['b', now - seconds(50)],
      ['c', old],
      ['d', old],
    ] as const)
      await rows.put(name, { used, token: 6, queue: placeOf('x', 1) });
    const asked = { after: Buffer.from('a'), last: Buffer.from('c'), idle: `${seconds(60)}` };
    const found = await rows.read(sql.idle, asked);
    expect(namesIn(found)).toEqual(['c']);
    expect(found[0]).toMatchObject({ token: 6, queue: Buffer.from(placeOf('x', 1)) });
  });

  test('a sweep takes away keys that are idle, free and below the floor, of those that it names', async () => {
    const old = now - seconds(61);
    const free: Record<string, Partial<Stored>> = {
      idle: { used: old, token: 6 },
      used: { used: now - seconds(50), token: 6 },
      above: { used: old, token: 7 },
      held: { used: old, token: 6, queue: placeOf('x', 1) },
      unnamed: { used: old, token: 6 },
    };
    for (const [name, stored] of Object.entries(free)) await rows.put(name, stored);
    const names = nameList(['idle', 'used', 'above', 'held'].map((name) => Buffer.from(name)));
    const swept = await rows.write(sql.sweep, { token: '6', idle: `${seconds(60)}` }, names);
    expect(swept).toMatchObject({ affectedRows: 1 });
    expect(Object.keys(await others()).sort()).toEqual(['above', 'held', 'unnamed', 'used']);
  });

  test('a list shows the queues within its names that are not empty, after the row of the table', async () => {
    const queue = placeOf('x', 1);
    for (const name of ['a', 'b', 'd', 'e']) await rows.put(name, { queue });
    await rows.put('c', {});
    const found = await rows.read(sql.list, { from: Buffer.from('b'), to: Buffer.from('e'), values: '0' });
    expect(namesIn(found)).toEqual(['', 'b', 'd']);
    expect(found[1]).toMatchObject({ queue: Buffer.from(queue), open: NOTHING_OPEN[kind.name] });
    expect(found[0]!.now, 'the time').toBeGreaterThanOrEqual(now);
  });

  test('a list comes page by page, in the order of the names', async () => {
    const made = await Rows.of(host, 'listed');
    await made.query(
      `INSERT INTO listed SELECT CONCAT('key/', LPAD(251 - seq, 3, 0)), 1, 0, 'x', '', 0 FROM ${numbersTo(250)}`,
    );
    const found = namesIn(
      await made.read(sql.list, { from: Buffer.from('key/'), to: Buffer.from('key0'), values: '0' }),
    );
    const expected = Array.from({ length: 199 }, (_, i) => `key/${`${i + 1}`.padStart(3, '0')}`);
    expect(found).toEqual(['', ...expected]);
  });

  test('what is read are the queues that are asked for, beside the row of the table', async () => {
    const queue = placeOf('x', 1);
    await rows.put(String(KEY), { queue });
    const found = await rows.read(sql.read, {}, nameList([KEY]));
    expect(namesIn(found).sort()).toEqual(['', String(KEY)]);
    expect(found.find(({ name }) => String(name) !== '')).toMatchObject({
      queue: Buffer.from(queue),
      open: NOTHING_OPEN[kind.name],
    });
    expect(found[0]!.now, 'the time').toBeGreaterThanOrEqual(now);
  });

  test('a queue takes no place that its column could not hold, however large a packet may be', async () => {
    const most = 16_777_215 - 2_048;
    const claim = {
      ...{ name: KEY, mark: mark('new'), waits: '1', minToken: '0', tokenCount: '1', ttl: '1' },
      ...{ units: ' 1 1 1 ', tail: ' - ;', notAfter: `${now + seconds(60)}` },
    };
    for (const [length, changed] of [
      [most + 1, 0],
      [most, 1],
    ] as const) {
      await rows.query(`REPLACE INTO kept_keys VALUES ('${KEY}', 7, 3, REPEAT('x', ${length}), '', 0)`);
      expect(await rows.write(sql.join, claim), `a queue of ${length} bytes`).toMatchObject({ affectedRows: changed });
    }
  });

  test('the shape of a table is looked up in its own database, under its own name', async () => {
    await rows.query('CREATE DATABASE elsewhere');
    const there = await Rows.of(host, 'elsewhere.kept_keys');
    await rows.query('ALTER TABLE elsewhere.kept_keys ENGINE = MyISAM');
    for (const [table, engine] of [
      [rows.table, 'InnoDB'],
      [there.table, 'MyISAM'],
    ] as const) {
      const found = await rows.read(sql.shape, table.address);
      expect(namesIn(found).sort(), engine).toEqual(['name', 'queue', 'token', 'used', 'value', 'value_ends']);
      expect(new Set(found.map((row) => row.engine))).toEqual(new Set([engine]));
    }
  });
});
