import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withConnectLimit } from '../../../src/connect/engine.ts';
import { redacted } from '../../../src/connect/url.ts';
import { Orders } from './orders.ts';
import { judge, percentile, type Verdict } from './verdict.ts';
import type { FromWorker, Task, ToWorker } from './worker.ts';

interface Size {
  readonly processes: number;
  readonly drivers: number;
  readonly orders: number;
}

interface RoundResult extends Verdict {
  readonly taps: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
}

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));
/** How long a worker may take to answer, ms: if it hangs, the demo must not hang. */
const MAX_ROUND_MS = 120_000;

/**
 * Runs one round in real processes, each with a share of the drivers. For every order all drivers tap at once.
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
  readonly #died: Promise<never> = this.#exited.then(([code]) => {
    throw new Error(`a process of the demo ended early (exit code ${code})`);
  });

  constructor() {
    this.#died.catch(() => {}); // it rejects also when a worker ends as it should
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
    const [answer] = await withConnectLimit(Promise.race([answered, this.#died]), MAX_ROUND_MS);
    return answer as FromWorker;
  }
}

/** Runs the three rounds and prints them. @returns the exit code */
export async function rounds(size: Size, locks: string, folder: string): Promise<number> {
  const { processes, drivers, orders } = size;
  console.log(
    `${drivers} drivers in ${processes} processes tap "grab" on each of ${orders} orders at once. Only one may get it.\n`,
  );
  const plan: readonly (readonly [string, string | null])[] = [
    ['no lock', null],
    ['a lock inside each process', 'memory:'],
    [`holdfast on ${redacted(locks).split(':')[0]}`, locks],
  ];
  const results: [string, RoundResult][] = [];
  for (const [i, [name, lock]] of plan.entries()) {
    const line = `round ${i + 1} of ${plan.length}: ${name}`;
    const result = await round(join(folder, `orders-${i}.db`), lock, size, (done) =>
      show(`${line}, ${done} of ${orders} orders`),
    );
    show(`${line}: ${sentence(result, orders)}\n`);
    results.push([name, result]);
  }
  console.log();
  console.table(Object.fromEntries(results.map(([name, result]) => [name, row(result, orders)])));
  const { right } = results.at(-1)![1];
  console.log(
    right
      ? '\nWith holdfast, every order has exactly one driver.'
      : '\nWRONG: with holdfast, an order did not go to exactly one driver.',
  );
  return right ? 0 : 1;
}

/** Writes over the current line of a terminal. Elsewhere it prints only text that ends a line. */
function show(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${text}`);
  else if (text.endsWith('\n')) process.stdout.write(text);
}

const sentence = ({ wonTwice, wonByNobody }: RoundResult, orders: number): string =>
  wonTwice + wonByNobody === 0
    ? 'every order has one driver'
    : `${wonTwice} of ${orders} orders were given to several drivers`;

const row = (result: RoundResult, orders: number) => ({
  orders,
  winners: result.winners,
  'won more than once': result.wonTwice,
  'grabs/s': Math.round(result.taps / result.seconds),
  'p50 wait, ms': Number(result.p50.toFixed(1)),
  'p99 wait, ms': Number(result.p99.toFixed(1)),
  'tokens in order': result.tokensInOrder === undefined ? '-' : result.tokensInOrder ? 'yes' : 'NO',
});
