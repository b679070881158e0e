/** Calls at once in one transaction take turns, however often its query function is made. */
import { expect, test } from 'vitest';
import { keepIn, lockRow, queryOf } from '../../src/transaction/index.ts';

/** A connection like that of pg, and the statements that it was sent. */
function connection(answer: (sql: string) => Promise<unknown>) {
  const sent: string[] = [];
  const query = (sql: string): Promise<unknown> => {
    sent.push(sql);
    return answer(sql);
  };
  return { tx: { query }, sent };
}

const wanted = (id: number) => ({ dialect: 'postgres', table: 'orders', where: { id }, wait: '2s' }) as const;

test('two calls at once on two query functions of one transaction do not mix their limits', async () => {
  const { tx, sent } = connection(async () => [{ was: '0 0' }]);
  await lockRow(queryOf(tx), wanted(1));
  const one = sent.splice(0);
  await Promise.all([lockRow(queryOf(tx), wanted(1)), lockRow(queryOf(tx), wanted(2))]);
  expect(sent, 'the second call begins when the first one has restored the limit').toEqual([...one, ...one]);
});

test('a query function keeps the turns of its transaction when it is given as a transaction', async () => {
  const { tx, sent } = connection(async () => [{ was: '0 0' }]);
  const query = queryOf(tx);
  expect(queryOf(query)).toBe(query);
  await lockRow(query, wanted(1));
  const one = sent.splice(0);
  await Promise.all([lockRow(query, wanted(1)), lockRow(queryOf(tx), wanted(2))]);
  expect(sent, 'the second call begins when the first one has restored the limit').toEqual([...one, ...one]);
});

test('calls at once in two transactions wait for nothing of each other', async () => {
  const { promise: free, resolve } = Promise.withResolvers<unknown[]>();
  const [held, other] = [connection(() => free), connection(async () => [{}])];
  const first = lockRow(queryOf(held.tx), wanted(1));
  await lockRow(queryOf(other.tx), wanted(2));
  resolve([{}]);
  await first;
});

test('an object that stands for the transaction of its caller is asked each time', async () => {
  const [one, other] = [connection(async () => [{}]), connection(async () => [{}])];
  let current = one.tx;
  const tx = {
    get queryRunner() {
      return current;
    },
  };
  const unlimited = { dialect: 'postgres', table: 'orders', where: { id: 1 } } as const;
  await lockRow(queryOf(tx), unlimited);
  current = other.tx;
  await lockRow(queryOf(tx), unlimited);
  expect([one.sent.length, other.sent.length], 'statements of each transaction').toEqual([1, 1]);
});

test('a call without a limit keeps back no call in another transaction of the same query function', async () => {
  const { promise: free, resolve } = Promise.withResolvers<unknown[]>();
  let answer: Promise<unknown> = free;
  const { tx, sent } = connection(() => answer);
  const query = queryOf(tx);
  const first = lockRow(query, { dialect: 'postgres', table: 'orders', where: { id: 1 } });
  answer = Promise.resolve([{ was: '0 0' }]);
  await lockRow(query, wanted(2));
  expect(sent.length, 'the statements of the second call, too').toBeGreaterThan(1);
  resolve([{}]);
  await first;
});

test('keepIn waits for no row that another transaction of the same query function waits for', async () => {
  const { promise: free, resolve } = Promise.withResolvers<unknown[]>();
  const { tx } = connection(async (sql) => (sql.includes('FOR UPDATE') ? free : [{ was: '50', affectedRows: 1 }]));
  const query = queryOf(tx);
  const waiting = lockRow(query, { ...wanted(1), dialect: 'mysql' });
  const { ran } = await keepIn(query, { dialect: 'mysql', table: 'results', key: 'key' }, () => 'done');
  expect(ran).toBe(true);
  resolve([{}]);
  await waiting;
});
