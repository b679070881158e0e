import { describe, expect, test } from 'vitest';
import { endOf, lineOf, nameOf, obstacle, type Place, placeOf, written } from '../../../src/backends/etcd/line.ts';
import { ALL_SEATS, EXCLUSIVE, type Seats, SHARED } from '../../../src/core/admission.ts';
import { LOOKALIKES } from '../../../src/testing/names.ts';

const kv = (value: string | Buffer) => ({
  key: Buffer.from('holdfast/a/x'),
  createRevision: 7n,
  modRevision: 7n,
  value: Buffer.from(value),
  lease: 3n,
});

const line = (...seats: Seats[]): Place[] =>
  seats.map((wish, index) => ({
    ...wish,
    name: Buffer.from(`p${index}`),
    ticket: BigInt(index + 1),
    lease: 1n,
    label: '',
  }));

const watched = (seats: Seats[], index: number): string => {
  const { name, puts } = obstacle(line(...seats), index);
  return `${name ?? 'line'}${puts ? ' and its writes' : ''}`;
};

describe('what is stored', () => {
  test('is read as it was written', () => {
    const place = placeOf(kv(written({ take: 2, of: 5, label: 'worker "7" 🔒' })));
    expect(place).toMatchObject({ take: 2, of: 5, label: 'worker "7" 🔒', ticket: 7n, lease: 3n });
  });

  test.each(['', 'locked', '{"take":1}', '\0'])('by a stranger (%j) holds exclusively', (value) => {
    expect(placeOf(kv(value))).toMatchObject({ take: ALL_SEATS, of: ALL_SEATS });
  });

  test('in a form of a later version is refused, not guessed', () => {
    expect(() => placeOf(kv('holdfast/2 {"take":1}'))).toThrow(expect.objectContaining({ code: 'LOCK_UNAVAILABLE' }));
  });
});

describe('names', () => {
  test('no line holds another: each has one slash, at its end, after the prefix', () => {
    for (const key of Object.values(LOOKALIKES).flat()) {
      expect(lineOf('holdfast', key).toString()).toMatch(/^holdfast\/[^/]+\/$/);
    }
    const names = new Set(
      Object.values(LOOKALIKES)
        .flat()
        .map((key) => lineOf('holdfast', key).toString()),
    );
    expect(names.size).toBe(new Set(Object.values(LOOKALIKES).flat()).size);
  });

  test('a range ends right after what begins with its start', () => {
    expect(endOf(Buffer.from('a/b/')).toString()).toBe('a/b0');
  });

  test('the id cannot be read from the name', () => {
    const id = 'c0ffee00c0ffee00c0ffee00c0ffee00';
    expect(nameOf(lineOf('holdfast', 'a'), id).toString()).toMatch(/^holdfast\/a\/[0-9a-f]{32}$/);
    expect(nameOf(lineOf('holdfast', 'a'), id).toString()).not.toContain(id);
  });
});

describe('what a waiter watches', () => {
  const permit: Seats = { take: 1, of: 2 };
  test.each<[string, Seats[], number, string]>([
    ['an exclusive claim its predecessor', [EXCLUSIVE, EXCLUSIVE, EXCLUSIVE], 2, 'p1'],
    ['a writer the last reader', [SHARED, SHARED, EXCLUSIVE], 2, 'p1'],
    ['a reader the nearest writer ahead', [EXCLUSIVE, EXCLUSIVE, SHARED, SHARED], 3, 'p1'],
    ['the first waiting permit all who hold', [permit, permit, permit], 2, 'line'],
    ['a later permit the one before it', [permit, permit, permit, permit], 3, 'p2 and its writes'],
    ['a reader in a room of permits all who hold', [permit, permit, SHARED], 2, 'line'],
  ])('%s', (_, seats, index, expected) => {
    expect(watched(seats, index)).toBe(expected);
  });
});
