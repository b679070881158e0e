import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { EXCLUSIVE } from '../../src/core/admission.ts';
import { manualClock } from '../../src/testing/index.ts';

test('a place that lapsed is not admitted when the hold ahead of it lapses too', async () => {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const claim = { key: 'key', ...EXCLUSIVE, queue: true, span: 1, within: 1_000, label: '' };
  await engine.attempt({ ...claim, id: 'holder', ttl: 500 });
  await engine.attempt({ ...claim, id: 'waiter', ttl: 400 });
  await clock.advance(1_000);
  const { granted } = await engine.attempt({ ...claim, id: 'next', ttl: 500, queue: false });
  expect(granted).toBe(true);
});
