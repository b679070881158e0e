/** The mark by which two requests are compared. */
import { describe, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/index.ts';
import { fingerprint, requestOf } from '../../src/memo/match.ts';

class Payment {
  readonly amount: bigint;
  readonly at: Date;
  constructor(amount: bigint, at = new Date(5)) {
    this.amount = amount;
    this.at = at;
  }
}
const of = (match: unknown): string => fingerprint({ match }, 'key');

test('it is what every engine keeps as it is, also that of no request: printable characters without a blank', () => {
  for (const options of [{}, { match: null }, { match: 'ä b' }, { match: { a: [1] } }])
    expect(fingerprint(options, 'key')).toMatch(/^[!-~]{1,64}$/);
});

test('a request has one fingerprint in any order of its members, and another request another one', () => {
  const one = of({ a: 1, b: { c: 2, d: [3, 4] }, e: null });
  expect(of({ e: null, b: { d: [3, 4], c: 2 }, a: 1 })).toBe(one);
  expect(of({ e: null, b: { d: [4, 3], c: 2 }, a: 1 })).not.toBe(one);
  expect(of({ d: 1, c: 2, b: 3, a: 4 })).toBe(of({ a: 4, b: 3, c: 2, d: 1 }));
  expect(of(null)).not.toBe(fingerprint({}, 'key'));
});

test('an instance of a class is compared by its data, and dates, bigints, maps and sets are data', () => {
  expect(of(new Payment(1n))).toBe(of({ at: new Date(5), amount: 1n }));
  expect(of(new Payment(1n))).not.toBe(of(new Payment(2n)));
  expect(of(new Payment(1n, new Date(6)))).not.toBe(of(new Payment(1n)));
  expect(of(new Map([[1, new Set(['a'])]]))).not.toBe(of(new Map([[1, new Set(['b'])]])));
  expect(of(1)).not.toBe(of('1'));
});

describe.each([
  ['undefined', undefined, 'match is undefined'],
  ['something undefined in it', ['POST', '/payments', undefined], 'match[2] is undefined; say null there'],
  ['a function in it', { by: () => 1 }, 'match.by is a function'],
  ['something that shows nothing', [new AbortController().signal], 'match[0] is an instance of AbortSignal'],
  ['a member that throws', { toJSON: () => JSON.parse('a secret') }, 'a part of it threw an instance of SyntaxError'],
])('a request with %s', (_, match, why) => {
  test('is refused when the memo is made, and the error says where', () => {
    expect(() => createLocks(memory()).memo('key', { match })).toThrow(
      expect.objectContaining({
        code: 'LOCK_INVALID',
        key: 'key',
        message: expect.stringContaining(`match cannot be compared: ${why}`),
      }),
    );
  });
});

test('the arguments of a call are its request: equal ones, some of which may be undefined, are one request', () => {
  const one = requestOf(['order:42', undefined, { b: 1, a: 2 }], 'Orders.pay()');
  expect(requestOf(['order:42', undefined, { a: 2, b: 1 }], 'Orders.pay()')).toBe(one);
  expect(requestOf(['order:42', null, { a: 2, b: 1 }], 'Orders.pay()')).not.toBe(one);
  expect(fingerprint({ match: one }, 'key')).toMatch(/^[0-9a-f]{64}$/);
});

test('arguments that cannot be compared are refused, and the error says of which call, and which argument', () => {
  expect(() => requestOf([1, { by: () => 1 }], 'Orders.pay()')).toThrow(
    expect.objectContaining({
      code: 'LOCK_INVALID',
      message: expect.stringContaining(
        'the arguments of Orders.pay() cannot be compared: arguments[1].by is a function',
      ),
    }),
  );
});
