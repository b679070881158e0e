import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { ProcessName, processName } from '../../src/core/contract/origin.ts';

test('the word of a process is the digest of its first id: eight characters, and always the same for it', () => {
  const name = new ProcessName();
  name.reserve();
  expect(name.word).toBeUndefined();
  name.next('a');
  // The first 48 bits of SHA-256, in base 36.
  expect(name.word).toBe('yivpvpy3');
  name.next('b');
  expect(name.word, 'of its second claim').toBe('yivpvpy3');
});

test('two thousand words have eight characters each, and differ', () => {
  const words = Array.from({ length: 2_000 }, (_, i) => {
    const name = new ProcessName();
    name.next(`${i}`);
    return name.word!;
  });
  for (const word of words) expect(word).toMatch(/^[0-9a-z]{8}$/);
  expect(new Set(words).size).toBe(words.length);
  expect(
    words.some((word) => word.startsWith('0')),
    'small numbers among them',
  ).toBe(true);
});

test('claims are counted from 1, and all that is on one clock counts together', () => {
  const clock = manualClock();
  const name = processName(clock);
  expect([name.next('a'), processName(clock).reserve(), processName(manualClock()).next('b')]).toEqual([1, 2, 1]);
});

test('who begins from a snapshot has a word of its own, though a claim was made before it', () => {
  const clones: (() => void)[] = [];
  const own = Object.getOwnPropertyDescriptor(process, 'getBuiltinModule')!;
  const startupSnapshot = {
    isBuildingSnapshot: () => true,
    addDeserializeCallback: (fn: () => void) => void clones.push(fn),
  };
  Object.defineProperty(process, 'getBuiltinModule', { ...own, value: () => ({ startupSnapshot }) });
  try {
    const name = processName(manualClock());
    name.next('before the snapshot');
    const before = name.word;
    for (const begin of clones) begin();
    name.next('in the process');
    expect(name.word).toMatch(/^[0-9a-z]{8}$/);
    expect(name.word).not.toBe(before);
  } finally {
    Object.defineProperty(process, 'getBuiltinModule', own);
  }
});
