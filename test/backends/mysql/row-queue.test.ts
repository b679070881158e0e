import { expect, test } from 'vitest';
import { RowQueue } from '../../../src/backends/mysql/stored-queue.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';
import { placeOf } from './rows.ts';

/** ms since 1970: stored times have 16 digits as µs. */
const NOW = 1_700_000_000_000;
const micro = (ms: number): number => ms * 1_000;
const claim = (id: string): Claim => ({
  ...{ key: 'key', id, ...EXCLUSIVE, ttl: 30_000, queue: true },
  ...{ tokenCount: 1, within: 5_000, label: 'a ; label @ with marks' },
});
const endsOf = (queue: RowQueue): Record<string, number> =>
  Object.fromEntries(
    queue.text
      .split(';')
      .slice(0, -1)
      .map((part) => part.split(' '))
      .map(([id, expires]) => [id!.slice(1), Number(expires)]),
  );

test('a lease counts from the latest time that the server may have had, and what has expired from the earliest', () => {
  const hour = 3_600_000;
  const row = { queue: placeOf('old', micro(NOW - 1)), now: NOW, latest: NOW + hour, token: 1n, value: '' };
  const queue = new RowQueue(row);
  expect(queue.expired).toBe(true);
  expect(queue.attempt(claim('new'))).toMatchObject({ granted: true, token: 2n });
  expect(endsOf(queue)).toEqual({ new: micro(NOW + hour + 30_000) });
  const alive = new RowQueue({ ...row, queue: placeOf('old', micro(NOW + 1)) });
  expect(alive.expired).toBe(false);
});

test('what is read is written as it was, and a queue in which nothing happened need not be written', () => {
  const first = new RowQueue({ queue: '', now: NOW, token: 5n, value: '' });
  first.attempt(claim('one'));
  first.attempt({ ...claim('two'), ttl: 3_000.25 });
  const again = new RowQueue({ queue: first.text, now: NOW + 1, token: first.token, value: first.value });
  expect(again.text).toBe(first.text);
  expect(again.isStored).toBe(true);
  expect(again.entries('key')).toMatchObject([{ held: true, label: 'a ; label @ with marks' }, { held: false }]);
});

test('a claim that a statement has just touched is given no other sign of life, and one that asks is', () => {
  const stored = placeOf('one', micro(NOW + 20_000)) + placeOf('two', micro(NOW + 29_000), 2);
  const row = {
    queue: stored.replaceAll(' 1 1 30000000', ' 2147483647 2147483647 30000000'),
    now: NOW,
    token: 2n,
    value: '',
  };
  for (const [id, granted] of [
    ['one', true],
    ['two', false],
  ] as const) {
    const touched = new RowQueue(row, id);
    expect(touched.attempt(claim(id)).granted).toBe(granted);
    expect(touched.isStored, `${id}, touched`).toBe(true);
    const asked = new RowQueue(row);
    expect(asked.attempt(claim(id)).granted).toBe(granted);
    expect(endsOf(asked)[id], `${id}, asked`).toBe(micro(NOW + 30_000));
  }
});
