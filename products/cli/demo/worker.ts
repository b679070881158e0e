/** One process of the demo's service: many drivers who all tap *grab* on the same order at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../../src/connect/index.ts';
import type { Locks } from '../../../src/locks.ts';
import { Orders } from './orders.ts';

export interface Task {
  readonly database: string;
  /** The URL of the locks; null: no lock at all. */
  readonly locks: string | null;
  readonly drivers: readonly string[];
}

/** To the worker: first its task, then the orders, one by one, then `done`. */
export type ToWorker = { readonly task: Task } | { readonly order: number } | { readonly done: true };
/** From the worker: it is ready, or all its drivers had their turn. `waits`: how long each waited, ms. */
export type FromWorker = { readonly ready: true } | { readonly order: number; readonly waits: readonly number[] };

const think = () => sleep(2 + Math.random() * 3);
const send = (message: FromWorker): void => void process.send?.(message);

let orders: Orders | undefined;
let locks: Locks | undefined;
let drivers: readonly string[] = [];

process.on('message', (message: ToWorker) => {
  void ('task' in message ? begin(message.task) : 'order' in message ? tapAll(message.order) : end());
});
process.on('disconnect', () => process.exit(1)); // the demo was interrupted

async function begin(task: Task): Promise<void> {
  orders = new Orders(task.database);
  locks = task.locks === null ? undefined : await connect(task.locks);
  drivers = task.drivers;
  send({ ready: true });
}

async function tapAll(order: number): Promise<void> {
  send({ order, waits: await Promise.all(drivers.map((driver) => tap(order, driver))) });
}

/** @returns ms from the tap to the driver's turn */
async function tap(order: number, driver: string): Promise<number> {
  const tapped = performance.now();
  if (!locks) {
    await orders?.grab(order, driver, 0n, think);
    return 0;
  }
  return locks.mutex(`order:${order}`).run(async (lease) => {
    const waited = performance.now() - tapped;
    await orders?.grab(order, driver, lease.token, think);
    return waited;
  });
}

async function end(): Promise<void> {
  await locks?.close();
  orders?.close();
  process.disconnect();
}
