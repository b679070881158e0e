/**
 * What it costs to be measured: cycles of one caller on a Redis of its own, uncontended, once as they are and once listened to, in turns, in one
 * process. The ratio is of two windows beside each other, so that what disturbs the machine disturbs both; the median of all pairs is told.
 * Run: `nice node --disable-warning=ExperimentalWarning bench/telemetry.ts [--publish]`
 */
import { type Context, context, TraceFlags, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { Redis } from 'ioredis';
import { redis } from '../src/backends/redis/index.ts';
import { channels } from '../src/core/contract/events.ts';
import { createLocks, type Locks } from '../src/index.ts';
import { type InstrumentOptions, instrument } from '../src/otel/index.ts';
import { startRedis } from '../test/kit/redis.ts';
import { LISTENED } from './pages/commands.ts';
import { publish } from './pages/publish.ts';

const PAIRS = 200;
/** As many as are handed over at a time, twice: so that all that is measured is paid for inside a window. */
const CYCLES = 512;

interface Window {
  /** µs a cycle, on the clock, and of this process. */
  readonly time: number;
  readonly cpu: number;
}

type Setup = (locks: Locks) => () => void;

/** Without one nothing would be measured. */
class Reader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}
const meter = new MeterProvider({ readers: [new Reader()] }).getMeter('bench');

const measured =
  (options: InstrumentOptions): Setup =>
  (locks) =>
    instrument(locks, options).stop;

/** As one that has handed them to the network. */
const nowhere: SpanExporter = {
  export: (_spans, done) => done({ code: 0 }),
  shutdown: async () => {},
};
const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter: nowhere })] });
const tracer = provider.getTracer('bench');
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

/** The caller's span, by the flags of its trace. */
const within = (traceFlags: TraceFlags) =>
  trace.setSpanContext(context.active(), { traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags });
const SAMPLED = within(TraceFlags.SAMPLED);
const NOT_SAMPLED = within(TraceFlags.NONE);

const SETUPS: Readonly<Record<string, Setup>> = {
  'nothing (the noise of this measurement)': () => () => {},
  'a listener that does nothing': () => {
    const listener = (): void => {};
    for (const channel of Object.values(channels)) channel.subscribe(listener);
    return () => {
      for (const channel of Object.values(channels)) channel.unsubscribe(listener);
    };
  },
  metrics: measured({ meter, tracer: false }),
  'metrics, in a trace that is not sampled': measured({ meter, tracer }),
  'metrics, in a trace that is sampled': measured({ meter, tracer }),
};

async function window(locks: Locks): Promise<Window> {
  const mutex = locks.mutex('order:42');
  const idle = process.cpuUsage();
  const began = performance.now();
  for (let i = 0; i < CYCLES; i++) {
    const lease = await mutex.acquire();
    await lease.release();
  }
  const { user, system } = process.cpuUsage(idle);
  return { time: ((performance.now() - began) * 1_000) / CYCLES, cpu: (user + system) / CYCLES };
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

async function compared(
  locks: Locks,
  caller: Context,
  setup: Setup,
): Promise<{ plain: Window; more: Window; ratio: Window }> {
  const pairs: { plain: Window; more: Window }[] = [];
  for (let i = 0; i < PAIRS; i++) {
    const before = i % 2 === 0 ? await context.with(caller, window, undefined, locks) : undefined;
    const end = setup(locks);
    const more = await context.with(caller, window, undefined, locks);
    end();
    pairs.push({ plain: before ?? (await context.with(caller, window, undefined, locks)), more });
  }
  const of = (value: (pair: (typeof pairs)[number]) => number): number => median(pairs.map(value));
  return {
    plain: { time: of(({ plain }) => plain.time), cpu: of(({ plain }) => plain.cpu) },
    more: { time: of(({ more }) => more.time), cpu: of(({ more }) => more.cpu) },
    ratio: {
      time: of(({ plain, more }) => more.time / plain.time),
      cpu: of(({ plain, more }) => more.cpu / plain.cpu),
    },
  };
}

await using server = await startRedis();
const client = new Redis(server.port);
const locks = createLocks(redis(client));
for (let i = 0; i < 10; i++)
  for (const setup of Object.values(SETUPS)) {
    const end = setup(locks);
    await window(locks);
    end();
  }
const ratios: Record<string, { time: number; cpu: number }> = {};
const shown = (ratio: number): string => `${ratio.toFixed(3)} ×`;
for (const [name, setup] of Object.entries(SETUPS)) {
  const { plain, more, ratio } = await compared(locks, name.endsWith('is sampled') ? SAMPLED : NOT_SAMPLED, setup);
  ratios[name] = ratio;
  const figures = `${plain.time.toFixed(1)} → ${more.time.toFixed(1)} µs a cycle`;
  console.log(`${name.padEnd(42)} ${shown(ratio.time)}, processor time ${shown(ratio.cpu)} (${figures})`);
}
await locks.close();
client.disconnect();
if (process.argv.includes('--publish')) publish(LISTENED, ratios);
