/** What JSON keeps as it is, and what it would change. */
import { describe, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { createLocks } from '../../src/index.ts';
import { fingerprint, fromJson, toJson } from '../../src/memo/json.ts';

class Own {}
const twice = { n: 1 };
const list = [1];
const around: Record<string, unknown> = {};
around.inner = [around];

test.each([
  [undefined],
  [null],
  [true],
  [false],
  [0],
  [-1.5],
  [''],
  ['text'],
  [[1, [2], {}]],
  [{ a: { b: [null, true] } }],
  [[twice, twice]],
  [{ one: list, two: [list] }],
  [{ one: twice, two: twice }],
  [Object.assign(Object.create(null), { a: 1 })],
])('%j comes back as it was', (value) => {
  expect(fromJson(toJson(value))).toEqual(value);
});

describe.each([
  ['a Date', new Date(0)],
  ['a Map', new Map()],
  ['a Own', new Own()],
  ['a object of another kind', Object.create(Object.create(null))],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['0', -0],
  ['a bigint', 1n],
  ['a function', () => {}],
  ['a symbol', Symbol('s')],
  ['a undefined', undefined],
  ['text that is not well-formed', '\uD800'],
  ['a Object', { toJSON: () => 1 }],
])('%s is refused', (said, value) => {
  test.each([
    ['the value[1]', [0, value]],
    ['the value.name', { a: 0, name: value }],
    ['the value.deep[0].name', { deep: [{ name: value }] }],
  ])('at %s', (at, whole) => {
    expect(() => toJson(whole)).toThrow(new TypeError(`${at} is ${said}, which JSON does not keep as it is`));
  });
});

test('what contains itself is refused, and says where', () => {
  expect(() => toJson(around)).toThrow(new TypeError('the value.inner[0] contains itself'));
  const loop: unknown[] = [];
  loop.push(loop);
  expect(() => toJson(loop)).toThrow(new TypeError('the value[0] contains itself'));
});

test('a fingerprint is what every engine keeps as it is, also that of no request: printable characters without a blank', () => {
  for (const match of [undefined, null, 'ä b', { a: [1] }]) expect(fingerprint(match, 'key')).toMatch(/^[!-~]{1,64}$/);
});

test('a request has one fingerprint in any order of its members, and another request another one', () => {
  const one = fingerprint({ a: 1, b: { c: 2, d: [3, 4] }, e: null }, 'key');
  expect(fingerprint({ e: null, b: { d: [3, 4], c: 2 }, a: 1 }, 'key')).toBe(one);
  expect(fingerprint({ e: null, b: { d: [4, 3], c: 2 }, a: 1 }, 'key')).not.toBe(one);
  expect(fingerprint({ d: 1, c: 2, b: 3, a: 4 }, 'key')).toBe(fingerprint({ a: 4, b: 3, c: 2, d: 1 }, 'key'));
  expect(fingerprint(null, 'key')).not.toBe(fingerprint(undefined, 'key'));
});

test('a request that JSON would change is refused, with its place', () => {
  expect(() => createLocks(memory()).memo('key', { match: { at: new Date(0) } })).toThrow(
    expect.objectContaining({
      code: 'LOCK_INVALID',
      key: 'key',
      message: expect.stringContaining('match cannot be compared: match.at is a Date'),
    }),
  );
});
