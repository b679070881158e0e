import { percentile } from '../../products/cli/demo/verdict.ts';
import { openDatabase } from './database.ts';
import type { Answer, Fleet } from './fleet.ts';
import { judge, openOrders, type Verdict } from './orders.ts';
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

/** One strategy: all drivers of all processes tap on the same order in the same moment, order by order. */
export async function round(
  fleet: Fleet,
  strategy: Strategy,
  database: string,
  locks: string,
  { orders, drivers, processes, work }: Size,
): Promise<Result> {
  await using stack = new AsyncDisposableStack();
  const own = openDatabase(database);
  stack.defer(() => own.end());
  await openOrders(own, orders);
  const each = Math.ceil(drivers / processes);
  await fleet.open({ strategy: strategy.name, database, locks, drivers: each });
  stack.defer(() => fleet.close());
  const answers: Answer[] = [];
  const began = performance.now();
  for (let order = 1; order <= orders; order++) {
    const taps = Array.from({ length: processes }, (_, process) =>
      Array.from({ length: each }, (_, driver) => ({ driver: `${process}-${driver}`, order })),
    );
    answers.push(...(await fleet.rush(taps, work)));
  }
  const seconds = (performance.now() - began) / 1_000;
  const verdict = await judge(own, orders);
  const waits = answers.map(({ ms }) => ms);
  const errors = answers.filter(({ failed }) => failed).length;
  return {
    ...verdict,
    strategy,
    requestsPerSecond: Math.round(answers.length / seconds),
    p50: percentile(waits, 0.5),
    p99: percentile(waits, 0.99),
    errors,
    handOvers: await fleet.handOvers(),
    right: verdict.wonTwice === 0 && verdict.wonByNobody === 0 && errors === 0,
  };
}
