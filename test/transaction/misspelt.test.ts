import { expect, test } from 'vitest';
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
