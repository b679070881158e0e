import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { serve } from '../kit/worker.ts';
import { type Entry, traced } from './trace.ts';

// The sources are loaded after the trace, which puts a call into each of their functions.
const { redis } = await import('../../src/backends/redis/index.ts');
const { memory } = await import('../../src/backends/memory.ts');
const { createLocks } = await import('../../src/index.ts');

const SOURCES = new URL('../../src/', import.meta.url).href;
/** What is done only the first time is done in these. */
const WARM_UPS = 20;

const client = new Redis(Number(process.env.REDIS_PORT), '127.0.0.1');
const locks = { redis: createLocks(redis(client)), memory: createLocks(memory()) };
type Engine = keyof typeof locks;
const run = (engine: Engine): Promise<void> => locks[engine].mutex('way').run(() => {});

export type Calls = typeof calls;

const calls = {
  /** @returns the functions of the sources that one `run` calls while nobody contends, by file */
  async way(engine: Engine): Promise<Record<string, string[]>> {
    for (let i = 0; i < WARM_UPS; i++) await run(engine);
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await run(engine);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    session.disconnect();
    const way: Record<string, string[]> = {};
    for (const { url, functions } of result) {
      const called = functions.filter(({ ranges }) => ranges[0]!.count > 0);
      if (!url.startsWith(SOURCES) || called.length === 0) continue;
      way[fileURLToPath(url).slice(fileURLToPath(SOURCES).length)] = called.map(
        ({ functionName }) => functionName || '(anonymous)',
      );
    }
    return way;
  },
  /** @returns the same in the order in which it goes through them, as often as it does */
  async inOrder(engine: Engine): Promise<readonly Entry[]> {
    for (let i = 0; i < WARM_UPS; i++) await run(engine);
    return traced(() => run(engine));
  },
  async close(): Promise<void> {
    for (const each of Object.values(locks)) await each.close();
    client.disconnect();
  },
};

serve(calls);
