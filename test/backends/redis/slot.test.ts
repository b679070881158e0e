import { expect, test } from 'vitest';
import { slotOf } from '../../../src/backends/redis/port.ts';
import { lockOf } from '../../../src/backends/redis/server.ts';

test('the slot is that of the specification', () => {
  expect(slotOf('123456789')).toBe(0x31c3 % 16_384);
  expect(slotOf('foo{hash_tag}')).toBe(2515); // CLUSTER KEYSLOT of the Redis manual
  expect(slotOf('a{}b'), 'an empty tag is none').not.toBe(slotOf(''));
});

test('the three keys of one lock share a slot, whatever its name', () => {
  for (const name of ['order:42', '{', '}', '{a}b', 'ключ', '%7B']) {
    const lock = lockOf('holdfast', name);
    expect(new Set([lock, `${lock}:queue`, `${lock}:claims`].map(slotOf)).size).toBe(1);
  }
});
