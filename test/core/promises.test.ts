import { expect, test } from 'vitest';
import { onceFor } from '../../src/core/contract/promises.ts';

test('an act for all callers is done once, and tried again only after a failure', async () => {
  let tried = 0;
  const act = onceFor(async () => {
    if (++tried === 1) throw new Error('not yet');
    return `done by try ${tried}`;
  });
  expect(tried, 'before anybody asks').toBe(0);
  const both = await Promise.allSettled([act(), act()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(tried, 'tries for two who ask at a time').toBe(1);
  await expect(act()).resolves.toBe('done by try 2');
  await expect(act()).resolves.toBe('done by try 2');
  expect(tried).toBe(2);
});
