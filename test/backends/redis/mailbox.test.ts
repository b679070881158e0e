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

test('what is still being opened at the old server, as the client comes to a new one, is opened again there', async () => {
  const clock = manualClock();
  const opened: string[] = [];
  const connected = new Set<() => void>();
  const answered = Promise.withResolvers<void>();
  let server = 'old';
  let woken = 0;
  const channel = new Channel(
    {
      name: () => 'channel',
      listen() {
        opened.push(server);
        return { ready: server === 'old' ? answered.promise : Promise.resolve(), hangUp() {} };
      },
      onConnection(again) {
        connected.add(again);
        return () => void connected.delete(again);
      },
      isWanted: () => true,
      wakeAll: () => woken++,
      deliver() {},
    },
    clock,
  );
  const first = channel.listen();
  server = 'new';
  for (const again of connected) again();
  answered.resolve();
  await first;
  expect({ opened, woken, isOpen: channel.isOpen }).toEqual({ opened: ['old', 'new'], woken: 1, isOpen: true });
  channel.close();
  expect(connected.size).toBe(0);
});
