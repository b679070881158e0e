import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
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

const WORKER = fileURLToPath(import.meta.url).replace(/round\.(ts|js)$/, 'worker.$1');
/** No round takes this long; a worker that hangs must not hang the demo. ms. */
const PATIENCE = 120_000;

/**
 * One round: real processes, each with its share of the drivers; for every order all drivers of all processes tap at once.
 * @param locks the URL of the locks; null: none
 */
export async function round(
  database: string,
  locks: string | null,
  size: Size,
  progress: (ordersDone: number) => void,
): Promise<RoundResult> {
  const orders = new Orders(database);
  orders.add(size.orders);
  const workers = Array.from(
    { length: size.processes },
    (_, i) => new Worker({ database, locks, drivers: shareOf(i, size) }),
  );
  try {
    await Promise.all(workers.map((worker) => worker.ready()));
    const waits: number[] = [];
    const began = performance.now();
    for (let order = 1; order <= size.orders; order++) {
      for (const part of await Promise.all(workers.map((worker) => worker.tap(order)))) waits.push(...part);
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
  readonly #child: ChildProcess;
  readonly #task: Task;

  constructor(task: Task) {
    this.#task = task;
    this.#child = fork(WORKER, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
  }

  async ready(): Promise<void> {
    await this.#ask({ task: this.#task });
  }

  async tap(order: number): Promise<readonly number[]> {
    const answer = await this.#ask({ order });
    return 'waits' in answer ? answer.waits : [];
  }

  async end(): Promise<void> {
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.send({ done: true } satisfies ToWorker);
    await exited;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #ask(message: ToWorker): Promise<FromWorker> {
    const child = this.#child;
    return new Promise((resolve, reject) => {
      const settle = (outcome: () => void): void => {
        clearTimeout(timer);
        child.off('message', answered).off('exit', died);
        outcome();
      };
      const answered = (answer: FromWorker) => settle(() => resolve(answer));
      const died = (code: number | null) =>
        settle(() => reject(new Error(`a process of the demo ended early (exit code ${code})`)));
      const timer = setTimeout(() => settle(() => reject(new Error('a process of the demo did not answer'))), PATIENCE);
      child.on('message', answered).on('exit', died);
      child.send(message);
    });
  }
}
