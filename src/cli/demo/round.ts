import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { withConnectLimit } from '../../connect/engine.ts';
import { Orders } from './orders.ts';
import { judge, percentile, type Verdict } from './verdict.ts';
import type { FromWorker, Task, ToWorker } from './worker.ts';

export interface Size {
  readonly processes: number;
  readonly drivers: number;
  readonly orders: number;
}

export interface RoundResult extends Verdict {
  readonly taps: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
}

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));
/** No round takes so long. A worker that hangs must not hang the demo. ms. */
const PATIENCE = 120_000;

/**
 * One round: real processes with a share of the drivers each. For every order all drivers tap at once.
 * @param locks the URL of the locks; null: no locks
 */
export async function round(
  database: string,
  locks: string | null,
  size: Size,
  progress: (ordersDone: number) => void,
): Promise<RoundResult> {
  const orders = new Orders(database);
  orders.add(size.orders);
  const workers = Array.from({ length: size.processes }, () => new Worker());
  try {
    await Promise.all(workers.map((worker, i) => worker.ready({ database, locks, drivers: shareOf(i, size) })));
    const waits: number[] = [];
    const began = performance.now();
    for (let order = 1; order <= size.orders; order++) {
      for (const part of await Promise.all(workers.map((worker) => worker.tap(order))))
        for (const wait of part) waits.push(wait);
      progress(order);
    }
    const seconds = (performance.now() - began) / 1_000;
    await Promise.all(workers.map((worker) => worker.end()));
    const verdict = judge(orders.sections(), size.orders);
    return { ...verdict, taps: waits.length, seconds, p50: percentile(waits, 0.5), p99: percentile(waits, 0.99) };
  } finally {
    for (const worker of workers) worker.kill();
    orders.close();
  }
}

const shareOf = (process: number, { drivers, processes }: Size): string[] =>
  Array.from({ length: drivers }, (_, i) => `driver ${i + 1}`).filter((_, i) => i % processes === process);

class Worker {
  readonly #child = fork(WORKER, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  readonly #exited = once(this.#child, 'exit');
  /** Rejects if the process ends. */
  readonly #died: Promise<never> = this.#exited.then(([code]) => {
    throw new Error(`a process of the demo ended early (exit code ${code})`);
  });

  constructor() {
    this.#died.catch(() => {}); // a worker also ends as it should
  }

  async ready(task: Task): Promise<void> {
    await this.#ask({ task });
  }

  async tap(order: number): Promise<readonly number[]> {
    const answer = await this.#ask({ order });
    return 'waits' in answer ? answer.waits : [];
  }

  async end(): Promise<void> {
    this.#child.send({ done: true } satisfies ToWorker);
    await this.#exited;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async #ask(message: ToWorker): Promise<FromWorker> {
    const answered = once(this.#child, 'message');
    this.#child.send(message);
    const [answer] = await withConnectLimit(Promise.race([answered, this.#died]), PATIENCE);
    return answer as FromWorker;
  }
}
