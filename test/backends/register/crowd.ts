import { startWorker } from '../../kit/processes.ts';
import { type Counts, StoreServer } from './remote-store.ts';

type CrowdCalls = {
  warm(): Promise<void>;
  crowd(callers: number): Promise<number>;
  close(): Promise<void>;
};

/** What a store is asked until each of so many callers, in so many processes, has had one key once. */
export async function crowd(processes: number, callers: number): Promise<Counts & { served: number }> {
  await using server = new StoreServer('/l/hot');
  const env = { PORT: `${await server.listen()}` };
  const file = new URL('crowd.worker.ts', import.meta.url);
  const workers = await Promise.all(Array.from({ length: processes }, () => startWorker<CrowdCalls>(file, { env })));
  try {
    for (const worker of workers) await worker.call('warm');
    const served = await Promise.all(
      workers.map((worker, n) => worker.call('crowd', Math.floor((callers + n) / processes))),
    );
    for (const worker of workers) await worker.call('close');
    return { ...server.counts, served: served.reduce((sum, each) => sum + each, 0) };
  } finally {
    await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()));
  }
}
