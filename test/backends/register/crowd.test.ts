import { expect, test } from 'vitest';
import { crowd } from './crowd.ts';

test('conflicts grow with processes, and not with the callers in them', { timeout: 60_000 }, async () => {
  const processes = 5;
  for (const callers of [10, 50, 200]) {
    const { conflicts, writes, reads, served } = await crowd(processes, callers);
    expect(served).toBe(callers);
    expect(conflicts, `of ${callers} callers in ${processes} processes`).toBeLessThanOrEqual(processes ** 2);
    // Once per process at best: to join the line, and to give the key to the next process.
    expect(writes + reads, `requests of ${callers} callers`).toBeLessThanOrEqual(20 * processes);
  }
});

test('a crowd in one process meets nobody', { timeout: 60_000 }, async () => {
  const { conflicts, writes, reads, served } = await crowd(1, 50);
  expect(served).toBe(50);
  expect(conflicts).toBe(0);
  expect(writes + reads).toBeLessThanOrEqual(10);
});
