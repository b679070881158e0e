import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { redis } from '../../src/backends/redis/index.ts';
import { createLocks } from '../../src/index.ts';
import { serve } from '../kit/worker.ts';

const SOURCES = new URL('../../src/', import.meta.url).href;
/** What is done only the first time is done in these. */
const WARM_UPS = 20;

const client = new Redis(Number(process.env.REDIS_PORT), '127.0.0.1');
const locks = createLocks(redis(client));
const run = (): Promise<void> => locks.mutex('way').run(() => {});

export type Calls = typeof calls;

const calls = {
  /** @returns the functions of the sources that one `run` calls while nobody contends, by file */
  async way(): Promise<Record<string, string[]>> {
    for (let i = 0; i < WARM_UPS; i++) await run();
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await run();
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
  async close(): Promise<void> {
    await locks.close();
    client.disconnect();
  },
};

serve(calls);
