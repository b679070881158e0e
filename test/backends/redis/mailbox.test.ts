import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import { Channel } from '../../../src/backends/redis/channel.ts';

/** A mailbox whose connection stands for so long each time, for ten seconds. */
async function wakes(stands: number): Promise<number> {
  const clock = manualClock();
  let count = 0;
  const channel = new Channel(
    {
      name: () => 'channel',
      listen: (_name, _heard, lost) => {
        clock.after(stands, lost);
        return { ready: Promise.resolve(), hangUp() {} };
      },
      isWanted: () => true,
      wakeAll: () => count++,
      deliver() {},
    },
    clock,
  );
  await channel.listen();
  for (let i = 0; i < 1_000; i++) await clock.advance(10);
  channel.close();
  return count;
}

test('a connection that ends as soon as it stands wakes who waits ever more rarely', async () => {
  expect(await wakes(10)).toBeLessThan(15);
});

test('one that stood for seconds is opened again at once', async () => {
  expect(await wakes(2_500)).toBeGreaterThanOrEqual(4);
});
