import autocannon from 'autocannon';
import { percentile } from '../../src/cli/demo/verdict.ts';
import { startWorker } from '../../test/kit/processes.ts';
import { type Database, openDatabase } from './database.ts';
import { judge, openOrders, type Verdict } from './orders.ts';
import type { Calls } from './service.worker.ts';
import type { Strategy } from './strategies.ts';

export interface Size {
  readonly orders: number;
  readonly drivers: number;
  readonly processes: number;
  /** Between reading an order and giving it away, ms. */
  readonly work: number;
}

export interface Result extends Verdict {
  readonly strategy: Strategy;
  readonly requestsPerSecond: number;
  /** ms */
  readonly p50: number;
  readonly p99: number;
  readonly errors: number;
  readonly handOvers: number;
  readonly right: boolean;
}

/** What a page shows while it runs. */
export interface Moment extends Verdict {
  readonly answered: number;
  readonly handOvers: number;
}

const WORKER = new URL('./service.worker.ts', import.meta.url);

/** One strategy: the service in several processes, and all drivers tapping on the same order, order by order. */
export async function round(
  strategy: Strategy,
  database: string,
  locks: string,
  { orders, drivers, processes, work }: Size,
  progress: (moment: Moment) => void = () => {},
): Promise<Result> {
  await using stack = new AsyncDisposableStack();
  const own: Database = openDatabase(database);
  stack.defer(() => own.end());
  await openOrders(own, orders);
  const env = { DATABASE_URL: database, LOCKS_URL: locks, STRATEGY: strategy.name, WORK: `${work}` };
  const services = await Promise.all(
    Array.from({ length: processes }, async () => stack.use(await startWorker<Calls>(WORKER, { env }))),
  );
  const urls = await Promise.all(services.map((service) => service.call('listen')));
  const waits: number[] = [];
  const began = performance.now();
  let ended = began; // autocannon itself ends at a full second
  const answered = (ms: number): void => {
    waits.push(ms);
    ended = performance.now();
  };
  const look = async (): Promise<Moment> => {
    const counts = await Promise.all(services.map((service) => service.call('handOvers')));
    const handOvers = counts.reduce((sum, n) => sum + n, 0);
    return { ...(await judge(own, orders)), answered: waits.length, handOvers };
  };
  // The round itself will say what is wrong.
  const watch = setInterval(() => void look().then(progress, () => {}), 200);
  stack.defer(() => clearInterval(watch));
  const loads = await Promise.all(urls.map((url, i) => load(url, i, orders, Math.ceil(drivers / processes), answered)));
  const seconds = (ended - began) / 1_000;
  const end = await look();
  progress(end);
  await Promise.all(services.map((service) => service.call('end')));
  const errors = loads.reduce((sum, n) => sum + n, 0);
  return {
    ...end,
    strategy,
    requestsPerSecond: Math.round(waits.length / seconds),
    p50: percentile(waits, 0.5),
    p99: percentile(waits, 0.99),
    errors,
    right: end.wonTwice === 0 && end.wonByNobody === 0 && errors === 0,
  };
}

/** Each connection is a driver, who taps on order 1, 2, 3… @returns how many requests were not answered as they should */
async function load(
  url: string,
  service: number,
  orders: number,
  drivers: number,
  answered: (ms: number) => void,
): Promise<number> {
  let failed = 0;
  const taps = Array.from({ length: orders }, (_, i) => ({
    setupRequest: (request: object) => ({
      ...request,
      method: 'POST',
      path: `/grab/${i + 1}?driverId=${service}-${Math.random().toString(36).slice(2)}`,
    }),
  }));
  const run = autocannon({ url, connections: drivers, amount: drivers * orders, timeout: 20, requests: taps });
  run.on('response', (_client, status, _bytes, ms) => {
    answered(ms);
    if (status !== 201 && status !== 409) failed++;
  });
  return (await run).errors + failed;
}
