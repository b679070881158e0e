import { describe, expect, test } from 'vitest';
import { LOOKALIKES } from '../../../products/testing/laws/keys.ts';
import { claimKey, claimText, entryOf, queuePrefix } from '../../../src/backends/etcd/queue.ts';
import { endOf } from '../../../src/backends/etcd/wire/messages.ts';
import { ALL_UNITS } from '../../../src/core/contract/admission.ts';

const kv = (value: string | Buffer) => ({
  key: Buffer.from('holdfast/a/x'),
  createRevision: 7n,
  modRevision: 7n,
  value: Buffer.from(value),
  lease: 3n,
});

describe('what is stored', () => {
  test('is read as it was written', () => {
    const place = entryOf(kv(claimText({ units: 2, capacity: 5, label: 'worker "7" 🔒' })));
    expect(place).toMatchObject({ units: 2, capacity: 5, label: 'worker "7" 🔒', token: 7n, lease: 3n });
  });

  test.each(['', 'locked', '{"take":1}', '\0'])('by a stranger (%j) holds exclusively', (value) => {
    expect(entryOf(kv(value))).toMatchObject({ units: ALL_UNITS, capacity: ALL_UNITS });
  });

  test('in a form of a later version is refused, not guessed', () => {
    expect(() => entryOf(kv('holdfast/2 {"take":1}'))).toThrow(expect.objectContaining({ code: 'LOCK_UNAVAILABLE' }));
  });
});

describe('names', () => {
  test('no line holds another: each has one slash, at its end, after the prefix', () => {
    for (const key of Object.values(LOOKALIKES).flat()) {
      expect(queuePrefix('holdfast', key).toString()).toMatch(/^holdfast\/[^/]+\/$/);
    }
    const names = new Set(
      Object.values(LOOKALIKES)
        .flat()
        .map((key) => queuePrefix('holdfast', key).toString()),
    );
    expect(names.size).toBe(new Set(Object.values(LOOKALIKES).flat()).size);
  });

  test('a range ends right after what begins with its start', () => {
    expect(endOf(Buffer.from('a/b/')).toString()).toBe('a/b0');
  });

  test('the id cannot be read from the name', () => {
    const id = 'c0ffee00c0ffee00c0ffee00c0ffee00';
    expect(claimKey(queuePrefix('holdfast', 'a'), id).toString()).toMatch(/^holdfast\/a\/[0-9a-f]{32}$/);
    expect(claimKey(queuePrefix('holdfast', 'a'), id).toString()).not.toContain(id);
  });
});
