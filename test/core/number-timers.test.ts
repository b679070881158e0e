import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Locks } from '../../src/index.ts';
import { type Folder, temporaryFolder } from '../kit/folder.ts';
import { until } from '../kit/wait.ts';

/**
 * Where a page has its timers, as in jsdom and in the renderer of Electron, they are numbers. A timer of ours that fails to be made
 * does so in a callback of its own, where nobody can catch it, so that it would end the process: `unhandled` says so.
 */
const own = { setTimeout, setInterval, setImmediate };
const unhandled: unknown[] = [];
const note = (error: unknown): void => void unhandled.push(error);

beforeAll(() => {
  vi.stubGlobal('setTimeout', (...given: Parameters<typeof setTimeout>) => Number(own.setTimeout(...given)));
  vi.stubGlobal('setInterval', (...given: Parameters<typeof setInterval>) => Number(own.setInterval(...given)));
  vi.stubGlobal('setImmediate', undefined);
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
});
afterAll(() => {
  vi.unstubAllGlobals();
  process.off('uncaughtException', note);
  process.off('unhandledRejection', note);
});

describe.each(['memory', 'file'] as const)('under timers that are numbers, on %s', (engine) => {
  let folder: Folder;
  let locks: Locks;
  let others: Locks;
  beforeAll(async () => {
    expect(typeof setTimeout(() => {}, 0)).toBe('number');
    folder = temporaryFolder();
    const { createLocks } = await import('../../src/index.ts');
    const { memory } = await import('../../src/backends/memory.ts');
    const { file } = await import('../../src/backends/file/index.ts');
    const shared = memory();
    const opened = () => createLocks(engine === 'memory' ? shared : file({ path: `${folder.path}/locks.db` }));
    [locks, others] = [opened(), opened()];
  });
  afterAll(async () => {
    await Promise.all([locks?.close(), others?.close()]);
    folder?.[Symbol.dispose]();
  });
  beforeEach(() => void unhandled.splice(0));
  afterEach(() => expect(unhandled, 'what nobody could catch').toEqual([]));

  test('a mutex is kept, renewed and waited for', async () => {
    await locks.mutex('a', { ttl: 900 }).run(async (lease) => {
      await new Promise((resolve) => setTimeout(resolve, 1_400)); // more than a lease: it is renewed
      expect(lease.held, 'a hold that is renewed').toBe(true);
      expect(await others.mutex('a').tryAcquire()).toBeNull();
      await expect(others.mutex('a').acquire({ wait: 20 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    });
  });

  test('a semaphore serves more callers than it has permits', async () => {
    const permits = locks.semaphore('s', { permits: 2 });
    await Promise.all([1, 2, 3].map(() => permits.run(async () => {})));
  });

  test('a tick runs once', async () => {
    const once = await locks.once('report', new Date(), () => 'ran', { overlap: 'skip', retry: true });
    expect(once).toMatchObject({ ran: true, value: 'ran' });
  });

  test('a leader is elected, leads and stops', async () => {
    const stop = new AbortController();
    let led = false;
    const leading = locks.leader('l', { pause: { pause: 1 } }).run(
      async (term) => {
        led = true;
        await new Promise((resolve) => term.signal.addEventListener('abort', resolve));
      },
      { signal: stop.signal },
    );
    await until('it leads', () => led);
    stop.abort();
    await leading;
  });

  test('a signal ends a wait', async () => {
    await using _ = await locks.mutex('b').acquire();
    const abort = new AbortController();
    const waiting = others.mutex('b').acquire({ signal: abort.signal });
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
  });
});

test('under timers that are numbers the coordinator of node-cron works, and so do spans', async () => {
  const { createLocks } = await import('../../src/index.ts');
  const { memory } = await import('../../src/backends/memory.ts');
  const { nodeCronCoordinator } = await import('../../src/cron/index.ts');
  const { instrument } = await import('../../src/otel/index.ts');
  const { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = await import('@opentelemetry/sdk-trace');
  await using locks = createLocks(memory());
  const coordinator = nodeCronCoordinator(locks);
  const key = `job:${new Date().toISOString()}`;
  expect(await coordinator.shouldRun(key, 60_000)).toBe(true);
  await coordinator.onComplete(key);

  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  using _ = instrument(locks, { meter: false, tracer: provider.getTracer('test') } as never);
  const lease = await locks.mutex('a').acquire();
  const waiting = locks.mutex('a').acquire();
  await lease.release();
  await (await waiting).release();
  await until('tokenBlocks', () => exporter.getFinishedSpans().length > 0);
  expect(unhandled, 'what nobody could catch').toEqual([]);
});
