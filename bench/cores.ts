import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const place = (pids: readonly number[], cores: string): boolean =>
  pids.every((pid) => spawnSync('taskset', ['-apc', cores, `${pid}`]).status === 0);

/**
 * The servers on one core and the clients on another, until disposed of. Left to itself the kernel has client and server share a
 * core for one program, and wake each other across two for the next: between two runs of the very same loop that made a
 * difference of 1.5 times, more than what is measured. Where there is no `taskset` (util-linux, so Linux only) it stays so.
 */
export function coresApart(servers: readonly number[], clients: readonly number[]): Disposable {
  const cores = availableParallelism();
  const apart = cores > 1 && place(servers, '0') && place(clients, '1');
  return { [Symbol.dispose]: () => apart && place(servers, `0-${cores - 1}`) };
}

/** Processor time that these processes have had, µs; not a number where nobody counts it (other systems than Linux). */
export function serverTime(pids: readonly number[]): number {
  try {
    const tasks = pids.flatMap((pid) =>
      readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}/schedstat`),
    );
    return tasks.reduce((sum, task) => sum + Number(readFileSync(task, 'utf8').split(' ')[0]) / 1_000, 0);
  } catch {
    return Number.NaN;
  }
}
