import { setTimeout as pass } from 'node:timers/promises';
import type { SpanProcessor } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { instrument } from '../../src/otel/index.ts';
import { until } from '../kit/wait.ts';
import { metering } from './collected.ts';
import { tracing } from './traced.ts';

const refused = () => {};
const MOMENT_MS = 20;
const work = () => pass(MOMENT_MS, 1);
const keep = '1m';

/** What a process does with locks, beside another process, and every way that it ends. */
const WAYS: Record<string, (locks: Locks, other: Locks) => Promise<unknown>> = {
  'holds one after the other': (locks) =>
    Promise.all(Array.from({ length: 20 }, () => locks.mutex('a').run(() => pass(1)))),
  'waits that end without the lock': async (locks, other) => {
    for (const holder of [other, locks]) {
      await using _lease = await holder.mutex('a').acquire();
      await locks.mutex('a').tryAcquire();
      for (const options of [{ wait: 0 }, { wait: MOMENT_MS }, { signal: AbortSignal.abort() }])
        await locks.mutex('a').acquire(options).catch(refused);
      await locks
        .mutex('a')
        .acquire({ signal: AbortSignal.timeout(MOMENT_MS) })
        .catch(refused);
    }
  },
  'calls inside a hold': (locks) =>
    locks.mutex('a').run(() => locks.mutex('a').run(async () => (await locks.mutex('a').tryAcquire())?.release())),
  'a hold that is taken away': async (locks, other) => {
    const lease = await locks.mutex('a').acquire();
    const lost = new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
    await other.forceRelease('a', { reason: 'a test' });
    await lost;
    await lease.release();
  },
  'memos: run here or elsewhere, with and without a result': async (locks, other) => {
    const memo = locks.memo('kept', { keep });
    await Promise.all([1, 2, 3].map(() => memo.run(work)));
    await memo.run(work);
    await memo.forget();
    await locks
      .memo('fails', { keep })
      .run(() => Promise.reject(new Error('no result')))
      .catch(refused);
    for (const [first, second] of [[locks, other] as const, [other, locks] as const])
      for (const time of [keep, 0] as const)
        await Promise.all([first, second].map((each) => each.memo(`both ${time}`, { keep: time }).run(work)));
    await Promise.all([
      other.memo('slow', { keep }).run(work),
      locks.memo('slow', { keep, wait: 5 }).run(work).catch(refused),
    ]);
  },
  'ticks: run here or elsewhere': async (locks, other) => {
    const tick = new Date(Math.floor(Date.now() / 1_000) * 1_000);
    await Promise.all([1, 2].map(() => locks.once('retried', tick, work, { retry: true })));
    for (const each of [other, locks]) await each.once('once', tick, refused);
    await locks.once('queued', tick, refused, { overlap: 'queue' });
  },
  elections: async (locks) => {
    const stop = new AbortController();
    let terms = 0;
    const lead = () =>
      locks.leader('a').run(
        async () => {
          if (++terms === 3) stop.abort();
        },
        { signal: stop.signal },
      );
    await Promise.all([lead(), lead()]);
  },
  'readers, permits and several locks at once': async (locks, other) => {
    const reader = locks.rwLock('a').read;
    await reader.run(() => reader.run(refused));
    await locks.semaphore('b', { permits: 2 }).run(refused);
    const both = locks.all(['c', 'd']);
    await both.run(refused);
    await using _lease = await other.mutex('d').acquire();
    await both.acquire({ wait: MOMENT_MS }).catch(refused);
    await both.tryAcquire();
  },
  'locks that are closed while one is held and one is waited for': async (locks, other) => {
    await using _lease = await other.mutex('a').acquire();
    const waiting = locks.mutex('a').acquire().catch(refused);
    await locks.mutex('b').acquire();
    await locks.close();
    await waiting;
  },
};

test.each(Object.entries(WAYS))('every span ends and every gauge is back at 0 after %s', async (_title, way) => {
  const open = new Map<string, string>();
  let begun = 0;
  const counting: SpanProcessor = {
    onStart(span) {
      begun++;
      open.set(span.spanContext().spanId, span.name);
    },
    onEnd: (span) => void open.delete(span.spanContext().spanId),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const { meter, collected } = metering();
  const engine = memory();
  await using locks = createLocks(engine);
  await using other = createLocks(engine);
  const { tracer } = tracing(undefined, counting);
  using _instrumentation = instrument(locks, { tracer, meter });
  await way(locks, other);
  const gauges = async () =>
    Object.entries(await collected()).filter(([name, value]) => /^lock\.(held|waiting)/.test(name) && value !== 0);
  await until('all is over', async () => open.size === 0 && (await gauges()).length === 0, 2_000).catch(refused);
  expect({ open: [...open.values()], gauges: await gauges() }, 'what is left').toEqual({ open: [], gauges: [] });
  expect(begun).toBeGreaterThan(0);
});
