import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Header } from '../../../src/backends/mysql/pool.ts';
import { exchange, join, leave, swap, touch } from '../../../src/backends/mysql/sql.generated.ts';
import { claimsOf, type NamedValues } from '../../../src/backends/mysql/statements.ts';
import { mark } from '../../../src/backends/mysql/stored-queue.ts';
import { describeOnMysql } from '../../kit/mysql-kinds.ts';
import { placeOf, Rows, seconds } from './rows.ts';
import { useServer } from './server.ts';

const KEY = Buffer.from('holdfast/key');
const BESIDE = { queue: '@beside 9000000000000000 4 1 1 30000000 1 - ;', token: 4, used: 5 };

describeOnMysql('a queue of mysql, as its statements leave it', (kind) => {
  const host = useServer(kind, { 'max-allowed-packet': '65536' });
  let rows: Rows;
  let now: number;

  beforeAll(async () => {
    rows = await Rows.of(host, 'kept_lines');
  });
  beforeEach(async () => {
    await rows.clear();
    await rows.put('holdfast/beside', BESIDE);
    now = await rows.now();
  });

  const put = (queue: string, token = 7): Promise<void> => rows.put(String(KEY), { queue, token, used: 3 });
  /** The row of the key; every other row is as it was. */
  const found = async () => {
    const { [String(KEY)]: row, ...others } = await rows.all();
    expect(others, 'rows of other keys').toEqual({ 'holdfast/beside': BESIDE });
    return row!;
  };
  const unchanged = async (what: string, { affectedRows }: Header, queue: string): Promise<void> => {
    expect(affectedRows, `rows changed: ${what}`).toBe(0);
    expect(await found(), what).toEqual({ queue, token: 7, used: 3 });
  };
  const newcomer = (wish: NamedValues = {}): NamedValues => ({
    name: KEY,
    mark: mark('new'),
    ttl: `${seconds(30)}`,
    units: ` 1 1 ${seconds(30)} `,
    tail: ' - ;',
    minToken: '0',
    tokenCount: '1',
    notAfter: `${now + seconds(60)}`,
    ...wish,
  });
  const joins = (waits: '0' | '1', wish: NamedValues = {}): Promise<Header> =>
    rows.write(join, { ...newcomer(wish), waits });
  const exchanges = (gone: string, wish: NamedValues = {}): Promise<Header> =>
    rows.write(exchange, { ...newcomer(wish), gone: mark(gone) });
  const leaves = (id: string): Promise<Header> => rows.write(leave, { name: KEY, gone: mark(id) });

  /** A place that was just taken by `newcomer`, at the end of what stood there. */
  const expectTaken = (row: { queue: string; used: number }, before: string, token: number): void => {
    expect(row.queue.startsWith(before), `${row.queue} begins with ${before}`).toBe(true);
    const [id, until, taken, units, capacity, ttl, joined, ...rest] = row.queue.slice(before.length).split(' ');
    expect([id, taken, units, capacity, ttl, ...rest]).toEqual([
      '@new',
      `${token}`,
      '1',
      '1',
      `${seconds(30)}`,
      '-',
      ';',
    ]);
    expect(Number(until) - Number(joined), 'µs until it expires').toBeGreaterThan(seconds(30) - 100_000);
    expect(Number(until) - Number(joined), 'µs until it expires').toBeLessThan(seconds(30) + 100_000);
    for (const time of [Number(joined), row.used]) {
      expect(time).toBeGreaterThanOrEqual(now);
      expect(time).toBeLessThan(now + seconds(20));
    }
  };

  test.each([
    { minToken: 0, tokenCount: 1, token: 8, highest: 8 },
    { minToken: 8, tokenCount: 1, token: 8, highest: 8 },
    { minToken: 20, tokenCount: 1, token: 20, highest: 20 },
    { minToken: 0, tokenCount: 5, token: 8, highest: 12 },
    { minToken: 20, tokenCount: 5, token: 20, highest: 24 },
  ])('the tokens that a newcomer takes are above all before, and as many as it asks for: %o', async (wish) => {
    const values = { minToken: `${wish.minToken}`, tokenCount: `${wish.tokenCount}` };
    await put('');
    expect(await joins('0', values)).toMatchObject({ affectedRows: 1, insertId: wish.token });
    expect((await found()).token, 'highest token after a join').toBe(wish.highest);
    expectTaken(await found(), '', wish.token);

    await put(placeOf('old', now + seconds(30)));
    expect(await exchanges('old', values)).toMatchObject({ affectedRows: 1, insertId: wish.token });
    expect((await found()).token, 'highest token after an exchange').toBe(wish.highest);
    expectTaken(await found(), '', wish.token);
  });

  test('who joins an empty queue learns its token', async () => {
    for (const waits of ['0', '1'] as const) {
      await put('');
      expect(await joins(waits)).toMatchObject({ affectedRows: 1, insertId: 8 });
      expectTaken(await found(), '', 8);
    }
  });

  test('a claim joins a queue with others in it only if it waits, and then has to read the queue', async () => {
    const queue = placeOf('first', now + seconds(9));
    await put(queue);
    await unchanged('it does not wait', await joins('0'), queue);
    expect(await joins('1')).toMatchObject({ affectedRows: 1, insertId: 0 });
    expectTaken(await found(), queue, 8);
  });

  test('nobody stands in a queue twice', async () => {
    for (const queue of [placeOf('new', now), placeOf('first', now + seconds(9)) + placeOf('new', now)]) {
      await put(queue);
      await unchanged('it joins a second time', await joins('1'), queue);
    }
    const both = placeOf('old', now + seconds(9)) + placeOf('new', now + seconds(9));
    await put(both);
    await unchanged('an exchange for who stands there', await exchanges('old'), both);
    const other = placeOf('new', now + seconds(9)) + placeOf('old', now + seconds(9));
    await put(other);
    await unchanged('an exchange for who stands there first', await exchanges('old'), other);
  });

  test('a step that comes too late changes nothing', async () => {
    const queue = placeOf('old', now + seconds(9));
    const late = { notAfter: `${now - 1}` };
    await put(queue);
    for (const waits of ['0', '1'] as const) await unchanged('a join', await joins(waits, late), queue);
    await put('');
    for (const waits of ['0', '1'] as const) await unchanged('a join of nobody', await joins(waits, late), '');
    await put(queue);
    await unchanged('an exchange', await exchanges('old', late), queue);
    const touched = rows.write(touch, { ...late, keeps: '0' }, claimsOf([[KEY, mark('old'), '1000000']]));
    await unchanged('a touch', await touched, queue);
  });

  test('a queue takes one more place only while it leaves room for the largest', async () => {
    const most = 65_536 / 4 - 2_048; // `swap` sends the queue twice, and with so small a packet half of it is for the values
    const filled = (length: number): string => {
      const old = placeOf('old', now + seconds(30));
      return old + 'x'.repeat(length - old.length);
    };
    for (const step of ['join', 'exchange']) {
      const take = () => (step === 'join' ? joins('1') : exchanges('old'));
      await put(filled(most + 1));
      await unchanged(`${step} without room`, await take(), filled(most + 1));
      await put(filled(most));
      expect(await take(), `${step} with just enough room`).toMatchObject({ affectedRows: 1 });
    }
  });

  test('an exchange takes out one hold, at any place, and gives whether others are in the queue', async () => {
    const [a, old, b] = ['a', 'old', 'b'].map((id) => placeOf(id, now + seconds(30))) as [string, string, string];
    for (const [before, after] of [
      [a, ''],
      ['', b],
      [a, b],
      [a + b, ''],
      ['', a + b],
    ] as const) {
      await put(before + old + after);
      expect(await exchanges('old'), 'others stand there').toMatchObject({ affectedRows: 1, insertId: 0 });
      expectTaken(await found(), before + after, 8);
    }
  });

  test('a hold that has expired, or stands in no queue, is not exchanged', async () => {
    const expired = placeOf('old', now - 1);
    for (const queue of [expired, placeOf('a', now + seconds(9)) + expired, expired + placeOf('a', now + seconds(9))]) {
      await put(queue);
      await unchanged('it has expired', await exchanges('old'), queue);
    }
    for (let length = 1; length <= 20; length++) {
      const queue = placeOf('b', now + seconds(9)) + placeOf('c', now + seconds(9));
      await put(queue);
      await unchanged(`no such hold, an id of ${length}`, await exchanges('a'.repeat(length)), queue);
    }
  });

  test('a claim that leaves learns whether it had not expired, and whether others are in the queue', async () => {
    const [a, b] = [placeOf('a', now + seconds(30)), placeOf('b', now + seconds(30))];
    for (const [alive, until] of [
      [1, now + seconds(30)],
      [0, now - 1],
    ] as const)
      for (const [others, before, after] of [
        [0, '', ''],
        [2, a, ''],
        [2, '', b],
        [2, a, b],
      ] as const) {
        await put(before + placeOf('old', until) + after);
        expect(await leaves('old')).toMatchObject({ affectedRows: 1, insertId: alive + others });
        const { queue, token, used } = await found();
        expect({ queue, token }).toEqual({ queue: before + after, token: 7 });
        expect(used, 'it was written').toBeGreaterThanOrEqual(now);
      }
  });

  test('who stands in no queue leaves nothing behind, and changes nothing', async () => {
    for (const queue of ['', placeOf('a', now + seconds(9)), placeOf('a', now) + placeOf('b', now + seconds(9))]) {
      await put(queue);
      await unchanged('no such place', await leaves('old'), queue);
    }
  });

  test('a touch sets when claims expire, of each key its own, and no sooner where it must keep', async () => {
    const other = Buffer.from('holdfast/other');
    const list = claimsOf([
      [KEY, mark('old'), `${seconds(5)}`],
      [other, mark('old'), `${seconds(50)}`],
    ]);
    for (const keeps of ['0', '1'] as const) {
      // What stands ahead must not keep out a claim that a renewal confirms.
      const [a, b] = [keeps === '1' ? placeOf('a', now - 1) : '', placeOf('b', now + seconds(9))];
      await rows.clear();
      for (const key of [String(KEY), String(other)])
        await rows.put(key, { queue: a + placeOf('old', now + seconds(30)) + b, token: 7, used: 3 });
      const { affectedRows } = await rows.write(touch, { notAfter: `${now + seconds(60)}`, keeps }, list);
      expect(affectedRows, 'rows').toBe(2);
      const after = await rows.all();
      for (const [key, ttl] of [
        [String(KEY), keeps === '1' ? 30 : 5],
        [String(other), 50],
      ] as const) {
        const { queue, token, used } = after[key]!;
        const until = Number(queue.slice(a.length + '@old '.length).split(' ')[0]);
        const moved = placeOf('old', until).replace(/ \d+ - /, ` ${now} - `);
        expect(queue, 'all else stays').toBe(a + moved + b);
        expect(until - now, `expires, µs from now, keeps ${keeps}`).toBeGreaterThanOrEqual(seconds(ttl));
        expect(until - now, `expires, µs from now, keeps ${keeps}`).toBeLessThan(seconds(ttl + 4));
        expect(token).toBe(7);
        expect(used, 'it was written').toBeGreaterThanOrEqual(now);
      }
    }
  });

  test('a touch of a hold changes no claim that may wait, and one behind others of its kind that all fit', async () => {
    const demand = (units: number, capacity: number) => ` ${units} ${capacity} 30000000`;
    const place = (id: string, kind: string, token = 1): string =>
      placeOf(id, now + seconds(9), token).replace(demand(1, 1), kind);
    const [all, fits] = [2_147_483_647, 1];
    for (const [ahead, kind, touched] of [
      ['', demand(all, all), fits],
      [place('a', demand(all, all)), demand(all, all), 0],
      [place('a', demand(all, all)), demand(1, all), 0],
      [place('a', demand(1, all)) + place('c', demand(1, all), 2), demand(1, all), fits],
      [place('a', demand(1, 2)), demand(1, 2), fits],
      [place('a', demand(1, 2)) + place('c', demand(1, 2), 2), demand(1, 2), 0],
      [place('a', demand(3, 9)), demand(1, 3), 0], // its token and units look like the other's units and capacity
      [place('a', demand(1, 9)), demand(2, 9), 0], // it holds, but only a read of the queue finds out
    ] as const) {
      await put(ahead + place('old', kind, 3) + placeOf('b', now + seconds(9), 4));
      const list = claimsOf([[KEY, mark('old'), `${seconds(5)}`]]);
      const { affectedRows } = await rows.write(touch, { notAfter: `${now + seconds(60)}`, keeps: '0' }, list);
      expect(affectedRows, `${kind} behind ${ahead}`).toBe(touched);
    }
  });

  test('a touch brings back nobody who has expired, and nobody who is not there', async () => {
    const queue = placeOf('old', now - 1) + placeOf('b', now + seconds(9));
    await put(queue);
    for (const id of ['old', 'none', 'a', 'a'.repeat(10)]) {
      const list = claimsOf([[KEY, mark(id), `${seconds(5)}`]]);
      const touched = await rows.write(touch, { notAfter: `${now + seconds(60)}`, keeps: '0' }, list);
      await unchanged(`a touch of ${id}`, touched, queue);
    }
  });

  test('what a step has made of a row is put in the place of the row that was read, and of no other', async () => {
    const [old, other] = [placeOf('old', now), placeOf('other', now)];
    const read = { name: KEY, oldQueue: old, oldToken: '7', oldValue: '' };
    const made = {
      queue: other,
      token: '9',
      value: 'text',
      ends: '9000000000000000',
      notAfter: `${now + seconds(60)}`,
    };
    await put(old);
    for (const wish of [
      { oldQueue: other },
      { oldQueue: '' },
      { oldToken: '6' },
      { oldToken: '8' },
      { oldValue: 'another' },
      { notAfter: `${now - 1}` },
    ])
      await unchanged(JSON.stringify(wish), await rows.write(swap, { ...read, ...made, ...wish }), old);
    expect(await rows.write(swap, { ...read, ...made })).toMatchObject({ affectedRows: 1 });
    expect(await found()).toMatchObject({ queue: other, token: 9 });
    expect((await found()).used).toBeGreaterThanOrEqual(now);
    const [row] = await rows.query(`SELECT value, value_ends AS ends FROM kept_lines WHERE name = '${KEY}'`);
    expect([String(row!.value), row!.ends]).toEqual(['text', 9_000_000_000_000_000]);
  });
});
