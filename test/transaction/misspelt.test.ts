import { expect, test } from 'vitest';
import { createStock, sqlStock } from '../../products/stock/index.ts';
import { fenceColumn, sqlFence } from '../../src/fence/index.ts';
import { changeRow, lockFree, lockRow, retryStale } from '../../src/transaction/index.ts';

const row = { dialect: 'postgres', table: 'orders', where: { id: 1 } } as const;

test.each<[string, (query: () => Promise<never>, more: object) => unknown]>([
  ['lockRow', (query, more) => lockRow(query, { ...row, ...more })],
  ['lockFree', (query, more) => lockFree(query, { ...row, ...more })],
  ['changeRow', (query, more) => changeRow(query, { ...row, version: 1, set: {}, ...more })],
  ['retryStale', (query, more) => retryStale(query, more)],
  ['sqlFence', (query, more) => sqlFence(query, 'orders', more)],
  ['fenceColumn', (_, more) => fenceColumn(1n, more)],
])('%s refuses an option that there is not: one that is misspelt would wait without limit, or guard nothing', async (name, call) => {
  const query = () => Promise.reject(new Error('something was sent'));
  const misspelt = (async () => call(query, { wiat: 0 }))();
  await expect(misspelt).rejects.toMatchObject({ code: 'LOCK_INVALID', message: expect.stringContaining(name) });
});

test.each<[string, () => Promise<unknown>]>([
  ['lockRow', () => (lockRow as () => Promise<unknown>)()],
  ['lockFree', () => (lockFree as () => Promise<unknown>)()],
  ['changeRow', () => (changeRow as () => Promise<unknown>)()],
  ['where', () => lockRow(async () => [], { ...row, where: undefined as never })],
  ['where', () => lockFree(async () => [], { ...row, where: 'id = 1' as never })],
  ['where', () => changeRow(async () => [], { ...row, where: null as never, version: 1, set: {} })],
  ['set', () => changeRow(async () => [], { ...row, version: 1, set: undefined as never })],
])('without %s, or with something else for it, what is wrong is said', async (name, call) => {
  await expect(call()).rejects.toMatchObject({ code: 'LOCK_INVALID', message: expect.stringContaining(name) });
});

test.each<[string, unknown]>([
  ['mysql2 with rowsAsArray', [[[1, 'new']], []]],
  ['the rows of that alone', [[1, 'new']]],
  ["pg with rowMode: 'array'", { rows: [[1, 'new']] }],
])('rows as arrays are refused: without names nothing would be found in them (%s)', async (_, answer) => {
  const query = async () => answer;
  await expect(lockRow(query, row)).rejects.toMatchObject({
    code: 'LOCK_INVALID',
    message: expect.stringContaining('as arrays'),
  });
  const store = sqlStock({ dialect: 'mysql', transaction: (work) => work(query) });
  await expect(createStock(store).create('shoe', { units: 1 })).rejects.toThrow('as arrays');
});
