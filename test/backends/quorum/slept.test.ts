import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import { claim } from './nodes.ts';
import { three } from './server.ts';

test('a node whose restart is noticed after a sleep does not count when the clock is corrected, but after the longest lease', async () => {
  const clock = manualClock();
  const servers = three();
  for (const server of servers) server.reading = server.writing = async () => {};
  const [restarted, second, third] = servers;
  restarted.restart({ id: 'a again', age: 0 });
  const isDown = (): Promise<never> => Promise.reject(new Error('is down'));
  const down = around(third.backend, { attempt: isDown });
  const lock = quorum([restarted.backend, second.backend, down], { clock });
  const granted = async (): Promise<boolean> => {
    const answer = lock.attempt(claim({ ttl: 5_000 })).catch(() => undefined);
    await clock.advance(1_000);
    return (await answer)?.granted === true;
  };
  clock.suspend(60_000);
  expect(await granted(), 'right after the sleep').toBe(false);
  clock.resync();
  expect(await granted(), 'when the clock is corrected').toBe(false);
  await clock.advance(10_000);
  expect(await granted(), 'after the longest lease that the others remember').toBe(true);
});
