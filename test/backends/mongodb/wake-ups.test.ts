/** The change stream of a process, as the driver tells of it: when it opens, and when it breaks. */
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { manualClock } from '../../../products/testing/index.ts';
import type { MongoCollection } from '../../../src/backends/mongodb/driver.ts';
import { Changes } from '../../../src/backends/mongodb/wake-ups.ts';

/** A waiter whose stream has opened, and broken. */
async function broken() {
  const clock = manualClock();
  const streams: EventEmitter[] = [];
  const watch = () => {
    const stream = Object.assign(new EventEmitter(), { close: async () => {} });
    streams.push(stream);
    return stream;
  };
  const changes = new Changes({ watch } as unknown as MongoCollection, clock);
  const told: string[] = [];
  const tell = async (at: number, event: string): Promise<void> => {
    streams[at]!.emit(event);
    await clock.advance(1);
  };
  const listening = changes.listen({ id: 'key', onChange: () => told.push(`woken, ${streams.length} streams`) });
  await tell(0, 'resumeTokenChanged');
  await listening;
  await tell(0, 'close');
  await clock.advance(250);
  return { clock, streams, changes, told, tell };
}

test('after a break, waiters are woken when the next stream is open: what changes before that is not brought', async () => {
  const { streams, told, tell, clock } = await broken();
  expect(streams).toHaveLength(2);
  expect(told, 'a refusal by now could be out of date when the stream opens').toEqual([]);
  await tell(1, 'resumeTokenChanged');
  expect(told).toEqual(['woken, 2 streams']);
  await clock.advance(10_000);
  expect(told).toHaveLength(1);
});

test('a stream that breaks before it is open wakes who waits, too, and no more often than it is tried', async () => {
  const { told, tell, clock } = await broken();
  await tell(1, 'close');
  expect(told).toEqual(['woken, 2 streams']);
  await clock.advance(250);
  await tell(2, 'resumeTokenChanged');
  expect(told).toEqual(['woken, 2 streams', 'woken, 3 streams']);
});

test('a stream that opens after all was closed wakes nobody', async () => {
  const { told, tell, changes } = await broken();
  await changes.close();
  await tell(1, 'resumeTokenChanged');
  expect(told).toEqual([]);
});
