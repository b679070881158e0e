/** Blocks that call somebody else, over HTTP; and what measures locks. */
import { EventEmitter } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pass } from 'node:timers/promises';
import { register } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { memory } from '../../../src/backends/memory.ts';
import type { Locks } from '../../../src/index.ts';
import { until } from '../../kit/wait.ts';
import { example, found, together } from '../block.ts';
import { closeAll, createLocks } from '../tracked.ts';

let instances: Locks[];
let partner: Server;
let url: string;
let most: number;
let times: number[];
beforeEach(async () => {
  const engine = memory();
  instances = [1, 2, 3].map(() => createLocks(engine));
  let inside = 0;
  [most, times] = [0, []];
  partner = createServer(async (_request, response) => {
    times.push(performance.now());
    most = Math.max(most, ++inside);
    await pass(50); // long enough for three calls to meet on a busy machine
    inside--;
    response.end('yes');
  });
  await new Promise<void>((resolve) => void partner.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(partner.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await closeAll();
  partner.closeAllConnections();
  await new Promise((resolve) => partner.close(resolve));
});

const twelve = () => Array.from({ length: 12 }, (_, i) => instances[i % 3]!);

test('a partner is called by three at a time, from all instances together', async () => {
  const block = found('docs/recipes.md', 'Calls to a partner');
  const results = await together(
    block,
    twelve().map((locks) => ({ locks, url })),
  );
  expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
  expect([times.length, most]).toEqual([12, 3]);
});

test('a partner gets so many calls in any window, from all instances together', async () => {
  const block = found('docs/recipes.md', 'A rate limit');
  const givens = twelve().map((locks) => ({ locks, url, console: { log: () => {} } }));
  const results = await together(block, givens, { '[100, 60_000]': '[4, 3_000]' });
  expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
  expect(times).toHaveLength(12);
  // Seen at the partner, where a call may be a little late.
  times.slice(4).forEach((time, i) => {
    expect(time - times[i]!).toBeGreaterThan(2_000);
  });
});

test('waits and holds are counted for Prometheus until the locks are closed', async () => {
  const process = new EventEmitter();
  const { measureLocks } = await example('docs/recipes.md', 'Metrics by prom-client')();
  await example(
    'docs/recipes.md',
    'Metrics by prom-client',
    2,
  )({ locks: instances[0], process, measureLocks }, { "import { measureLocks } from './measureLocks.ts';\n": '' });
  await instances[0]!.mutex('order:42').run(() => {});
  const text = await register.metrics();
  expect(text).toMatch(/lock_requests_total\{.*lock_kind="order".*lock_outcome="acquired".*\} 1/);
  expect(text).toMatch(/lock_hold_duration_seconds_count\{.*lock_outcome="released".*\} 1/);
  process.emit('SIGTERM');
  await until('the locks are closed', () =>
    instances[0]!
      .mutex('key')
      .tryAcquire()
      .then(
        () => false,
        ({ code }) => code === 'LOCK_CLOSED',
      ),
  );
});
