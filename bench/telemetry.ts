/**
 * What it costs to be measured: cycles of one caller on a Redis of its own, uncontended, once as they are and once listened to, in turns, in one
 * process. The ratio is of two windows beside each other, so that what disturbs the machine disturbs both; the median of all pairs is told.
 * Run: `nice node --disable-warning=ExperimentalWarning bench/telemetry.ts [pairs]`
 */
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { Redis } from 'ioredis';
import { redis } from '../src/backends/redis/index.ts';
import { channels } from '../src/core/events.ts';
import { createLocks, type Locks } from '../src/index.ts';
import { instrument } from '../src/otel/index.ts';
import { startRedis } from '../test/kit/redis.ts';

const PAIRS = Number(process.argv[2] ?? 200);
const CYCLES = 300;

interface Window {
  /** µs a cycle, on the clock, and of this process. */
  readonly time: number;
  readonly cpu: number;
}

type Setup = (locks: Locks) => () => void;

const meter = new MeterProvider().getMeter('bench');

const SETUPS: Readonly<Record<string, Setup>> = {
  'nothing (the noise of this measurement)': () => () => {},
  'a listener that does nothing': () => {
    const listener = (): void => {};
    for (const channel of Object.values(channels)) channel.subscribe(listener);
    return () => {
      for (const channel of Object.values(channels)) channel.unsubscribe(listener);
    };
  },
  metrics: (locks) => {
    const instrumentation = instrument(locks, { meter });
    return () => instrumentation.stop();
  },
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

async function compared(locks: Locks, setup: Setup): Promise<{ plain: Window; more: Window; ratio: Window }> {
  const pairs: { plain: Window; more: Window }[] = [];
  for (let i = 0; i < PAIRS; i++) {
    const before = i % 2 === 0 ? await window(locks) : undefined;
    const end = setup(locks);
    const more = await window(locks);
    end();
    pairs.push({ plain: before ?? (await window(locks)), more });
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
const shown = (ratio: number): string => `${ratio.toFixed(3)} ×`;
for (const [name, setup] of Object.entries(SETUPS)) {
  const { plain, more, ratio } = await compared(locks, setup);
  const figures = `${plain.time.toFixed(1)} → ${more.time.toFixed(1)} µs a cycle`;
  console.log(`${name.padEnd(42)} ${shown(ratio.time)}, processor time ${shown(ratio.cpu)} (${figures})`);
}
await locks.close();
client.disconnect();
