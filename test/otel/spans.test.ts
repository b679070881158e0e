import { setTimeout as pass } from 'node:timers/promises';
import type { Tracer } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace';
import { afterEach, expect, test, vi } from 'vitest';
import { around } from '../../products/testing/around.ts';
import { lose } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend, QueueEntry } from '../../src/core/contract/backend.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { type InstrumentOptions, instrument } from '../../src/otel/index.ts';
import { until } from '../kit/wait.ts';
import { type Seen, tracing } from './traced.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  vi.restoreAllMocks();
});

/** Two services on one engine, each with a tracer of its own. */
function scene(options: InstrumentOptions = {}, calls: Partial<Backend> = {}, tracer = tracing()) {
  const engine = memory();
  const here = createLocks(around(engine, calls));
  const there = createLocks(engine, { label: 'there' });
  const other = tracing();
  const instrumentation = instrument(here, { meter: false, tracer: tracer.tracer, ...options });
  const telemetry = [instrumentation, instrument(there, { meter: false, tracer: other.tracer })];
  ends.push(
    ...telemetry.map(({ stop }) => stop),
    () => here.close(),
    () => there.close(),
  );
  return { engine, here, there, other, instrumentation, ...tracer };
}

const named = (spans: readonly Seen[], name: string): Seen => {
  const found = spans.filter((span) => span.name === name);
  expect(found.length, `spans named ${name} of ${spans.map((span) => span.name)}`).toBe(1);
  return found[0]!;
};

const lineOf = async (locks: Locks, key: string): Promise<QueueEntry[]> => {
  const line: QueueEntry[] = [];
  for await (const standing of locks.inspect(key, { exact: true })) line.push(standing);
  return line;
};

test('a hold is a span in its caller’s', async () => {
  const { here, inside, spans } = scene();
  const caller = await inside('POST /grab', async (span) => {
    await here.mutex('order:42').run(() => {});
    return span.spanContext();
  });
  const all = await spans();
  expect(all.map(({ name }) => name)).toEqual(['lock.hold order', 'POST /grab']);
  const [hold] = all as [Seen];
  expect([hold.parent, hold.trace]).toEqual([caller.spanId, caller.traceId]);
  expect(hold.attributes).toEqual({
    'lock.backend': 'memory',
    'lock.kind': 'order',
    'lock.type': 'mutex',
    'lock.key': 'order:42',
    'lock.token': '1',
    'lock.outcome': 'released',
  });
});

test('a wait is a span that links to the holder’s, in another process too: its trace travels in the claim', async () => {
  const { here, there, other, inside, spans } = scene();
  const lease = await other.inside('nightly report', () => there.mutex('order:42').acquire());
  const waiting = inside('POST /grab', () => here.mutex('order:42').acquire());
  await pass(150);
  await lease.release();
  await (await waiting).release();
  const holder = named(await other.spans(), 'lock.hold order');
  const all = await spans();
  expect(all.map(({ name }) => name)).toEqual(['lock.wait order', 'POST /grab', 'lock.hold order', 'lock order']);
  const wait = named(all, 'lock.wait order');
  expect(wait.links).toEqual([holder.id]);
  expect(wait.attributes).toMatchObject({ 'lock.holder': ['there'], 'lock.outcome': 'acquired' });
  const { id, parent } = named(all, 'lock order');
  expect([wait.parent, named(all, 'lock.hold order').parent], 'within the whole of it').toEqual([id, id]);
  expect(parent).toBe(named(all, 'POST /grab').id);
});

test('a wait for a hold of the same process links to it, and asks the engine nothing', async () => {
  const engine = memory();
  let asked = 0;
  const inspect: Backend['inspect'] = (prefix, listing) => {
    asked++;
    return engine.inspect!(prefix, listing);
  };
  const { here, spans } = scene({}, { inspect });
  const lease = await here.mutex('job').acquire();
  const waiting = here.mutex('job').acquire();
  await pass(120);
  await lease.release();
  await (await waiting).release();
  const all = await spans();
  const [first] = all.filter(({ name }) => name === 'lock.hold job');
  expect(named(all, 'lock.wait job').links).toEqual([first!.id]);
  expect(asked).toBe(0);
});

test('many that wait ask the engine once, those that wait shortly not at all', async () => {
  const { engine, there } = scene();
  let asked = 0;
  const { tracer } = tracing();
  const inspect: Backend['inspect'] = (prefix, listing) => {
    asked++;
    return engine.inspect!(prefix, listing);
  };
  await using locks = createLocks(around(engine, { inspect }));
  using _ = instrument(locks, { meter: false, tracer });
  const short = await there.mutex('job').acquire();
  const soon = locks.mutex('job').acquire();
  await short.release();
  await (await soon).release();
  expect(asked).toBe(0);
  const lease = await there.mutex('job').acquire();
  const waiting = Array.from({ length: 50 }, () => locks.mutex('job').run(() => {}));
  await pass(150);
  await lease.release();
  await Promise.all(waiting);
  expect(asked).toBeLessThanOrEqual(2);
});

test.each<[string, Backend['inspect']]>([
  ['cannot list', undefined],
  [
    'fails',
    () => {
      throw new Error('away');
    },
  ],
  [
    'does not answer',
    () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise((resolve) => ends.push(() => resolve({ done: true, value: undefined }))),
      }),
    }),
  ],
])('an engine that %s when it is asked for the holder delays no lock', async (_title, inspect) => {
  const { here, there, spans } = scene({}, { inspect });
  const lease = await there.mutex('job').acquire();
  const waiting = here.mutex('job').acquire();
  await pass(120);
  await lease.release();
  await (await waiting).release();
  expect(named(await spans(), 'lock.wait job')).toMatchObject({ links: [], failed: false });
});

test('what was not granted says why, and what was lost', async () => {
  const { here, there, spans } = scene();
  const lease = await there.mutex('a:1').acquire();
  await expect(here.mutex('a:1').acquire({ wait: 20 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
  expect(await here.mutex('a:2').tryAcquire()).not.toBeNull();
  expect(await here.mutex('a:1').tryAcquire()).toBeNull();
  const lost = await here.mutex('b:1').acquire();
  lose(lost);
  await lost.release();
  await lease.release();
  const all = await spans();
  const outcomes = all
    .filter(({ name }) => name === 'lock a')
    .map(({ attributes, failed }) => [attributes['lock.outcome'], attributes['error.type'], failed]);
  expect(outcomes).toEqual([
    ['timed_out', 'LOCK_TIMEOUT', true],
    ['refused', undefined, false],
  ]);
  expect(named(all, 'lock.hold b')).toMatchObject({ failed: true, attributes: { 'lock.outcome': 'lost' } });
});

test('a call inside a hold of the same lock is no span, unless it has to wait for its sibling', async () => {
  const { here, spans } = scene();
  const mutex = here.mutex('job');
  await mutex.run(async () => {
    await mutex.run(() => {});
    expect(await spans()).toEqual([]);
    await Promise.all([mutex.run(() => pass(5)), mutex.run(() => {})]);
  });
  const all = await spans();
  expect(all.map(({ name }) => name)).toEqual(['lock.wait job', 'lock job', 'lock.hold job']);
  expect(all[1]!.attributes['lock.outcome']).toBe('reentered');
});

test('readers, permits and parts of all() have spans of their own', async () => {
  const { here, spans } = scene();
  await here.rwLock('page').read.run(() => {});
  await here.semaphore('pool', { permits: 2 }).run(() => {});
  await here.all(['a:1', 'a:2']).run(() => {});
  expect(
    (await spans()).map(({ attributes }) => `${attributes['lock.type']} ${attributes['lock.key']}`).sort(),
  ).toEqual(['mutex a:1', 'mutex a:2', 'reader page', 'semaphore pool']);
});

test('the trace of a request stands in its claim; of one that is not sampled, nothing does, nor after stop()', async () => {
  const { here, instrumentation, inside } = scene();
  const traceparents = async (): Promise<unknown[]> => {
    const lease = await here.mutex('job').acquire();
    const [standing] = await lineOf(here, 'job');
    await lease.release();
    return [standing?.label, standing?.origin?.traceparent?.split('-')[1]];
  };
  const [, traceId] = await inside('caller', async (span) => [await traceparents(), span.spanContext().traceId]);
  const told = await inside('caller', async (span) => [await traceparents(), span.spanContext().traceId] as const);
  expect(told[0][1]).toBe(told[1]);
  expect(traceId).not.toBe(told[1]);
  instrumentation.stop();
  expect((await traceparents())[1]).toBeUndefined();
  using _ = instrument(here, { meter: false, tracer: tracing(new AlwaysOffSampler()).tracer });
  expect((await traceparents())[1]).toBeUndefined();
});

test('a request in a trace that is not sampled has no span; with inTracesOnly, nor has one that is in no trace', async () => {
  const { here, inside, spans } = scene({ inTracesOnly: true });
  const unsampled = tracing(new AlwaysOffSampler());
  await here.mutex('job').run(() => {});
  await unsampled.inside('caller', () => here.mutex('job').run(() => {}));
  expect(await spans()).toEqual([]);
  await inside('caller', () => here.mutex('job').run(() => {}));
  expect(await spans()).toHaveLength(2);
});

test('with keys: false no span tells a key', async () => {
  const { here, spans } = scene({ keys: false });
  await here.mutex('user:somebody').run(() => {});
  expect(JSON.stringify(await spans())).not.toContain('somebody');
});

test('with keys: false the error of a span tells no key either', async () => {
  const { here, spans } = scene({ keys: false });
  const lease = await here.mutex('user:ann').acquire();
  await here
    .mutex('user:ann')
    .acquire({ wait: 10 })
    .catch(() => {});
  await here.forceRelease('user:ann', { reason: 'stuck' });
  await lease.release();
  const told = await spans();
  expect(told.map(({ attributes }) => attributes['error.type'])).toContain('LOCK_TIMEOUT');
  expect(JSON.stringify(told)).not.toContain('user:ann');
});

test('what is open when it stops is exported as it is', async () => {
  const { here, instrumentation, spans } = scene();
  const lease = await here.mutex('job').acquire();
  instrumentation.stop();
  expect((await spans()).map(({ name }) => name)).toEqual(['lock.hold job']);
  await lease.release();
  expect(await spans()).toHaveLength(1);
});

test('a tracer that throws, or a processor behind it, is no trouble of the lock, and is told once', async () => {
  const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const broken = (): never => {
    throw new Error('no exporter');
  };
  const processor = { onStart() {}, onEnd: broken, forceFlush: async () => {}, shutdown: async () => {} };
  for (const tracer of [{ startSpan: broken } as unknown as Tracer, tracing(undefined, processor).tracer]) {
    emitWarning.mockClear();
    await using locks = createLocks(memory());
    using _ = instrument(locks, { meter: false, tracer });
    expect(await locks.mutex('job').run(() => 'done')).toBe('done');
    const lease = await locks.mutex('job').acquire();
    const waiting = locks.mutex('job').acquire();
    await lease.release();
    await (await waiting).release();
    await until('it is told', () => emitWarning.mock.calls.length > 0);
    expect(emitWarning.mock.calls.map(([text]) => text)).toEqual([expect.stringContaining('no exporter')]);
  }
});
