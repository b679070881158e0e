import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isOf, nodeName, sortedQueue } from '../../../src/backends/zookeeper/names.ts';
import { ALL_UNITS, type Demand, EXCLUSIVE, SHARED, WRITER } from '../../../src/core/contract/admission.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';

const claim = (id: string, demand: Demand): Claim => ({
  key: 'k',
  id,
  ...demand,
  ttl: 1,
  queue: true,
  tokenCount: 1,
  within: 1,
  label: '',
});
const ID = '0123456789abcdef0123456789abcdef';
const number = (n: number) => (n < 0 ? `-${String(-n).padStart(9, '0')}` : String(n).padStart(10, '0'));
const demand = fc.oneof(
  fc.constantFrom<Demand>(EXCLUSIVE, WRITER, SHARED),
  fc
    .tuple(fc.integer({ min: 1, max: ALL_UNITS - 1 }), fc.integer({ min: 1, max: ALL_UNITS - 1 }))
    .map(([a, b]) => ({ units: Math.min(a, b), capacity: Math.max(a, b) })),
);
const hexId = fc.stringMatching(/^[0-9a-f]{32}$/);
const sequence = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

test("nodes have the names that Curator's mutex and read-write lock give theirs", () => {
  const guid = '01234567-89ab-cdef-0123-456789abcdef';
  expect(nodeName(claim(ID, EXCLUSIVE))).toBe(`_c_${guid}-lock-`);
  expect(nodeName(claim(ID, WRITER))).toBe(`_c_${guid}-__WRIT__`);
  expect(nodeName(claim(ID, SHARED))).toBe(`_c_${guid}-__READ__`);
  expect(nodeName(claim(ID, { units: 2, capacity: 5 }))).toBe(`_c_${guid}-2of5-lock-`);
});

test('what a name says is what the claim asked for, and whose it is', () => {
  fc.assert(
    fc.property(hexId, hexId, demand, sequence, (id, other, asked, n) => {
      const name = nodeName(claim(id, asked)) + number(n);
      const [member] = sortedQueue([name]);
      expect(member).toEqual({ name, number: n, units: asked.units, capacity: asked.capacity });
      expect(isOf(id, name)).toBe(true);
      expect(isOf(other, name)).toBe(id === other);
    }),
  );
});

test('the line is in the order of creation, also where the counter wraps', () => {
  fc.assert(
    fc.property(sequence, fc.shuffledSubarray([...Array(20).keys()], { minLength: 20 }), (first, order) => {
      const names = [...Array(20).keys()].map((n) => `_c_x-lock-${number((first + n) | 0)}`);
      expect(sortedQueue(order.map((n) => names[n]!)).map(({ name }) => name)).toEqual(names);
    }),
  );
});

test.for([
  'x-0000000007',
  '_c_g-lease-0000000007',
  '_c_g-9of5-lock-0000000007',
  '_c_g-0of5-lock-0000000007',
  '_c_g-2of5-__WRIT__0000000007',
  '9f3b__lock__0000000007',
])('a sequential node that is no claim of a known kind takes all: %s', (name) => {
  expect(sortedQueue([name])).toEqual([{ name, number: 7, ...EXCLUSIVE }]);
});

test.for(['locks', 'leases', 'order%3A42', '', 'lock-12'])('a child without a number has no place: "%s"', (name) => {
  expect(sortedQueue([name])).toEqual([]);
});
