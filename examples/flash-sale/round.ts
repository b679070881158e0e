import { percentile } from '../../products/cli/demo/verdict.ts';
import { createStock } from '../../products/stock/index.ts';
import type { Shops } from './shops.ts';
import { openTill } from './till.ts';
import type { Way } from './ways.ts';

export interface Size {
  readonly units: number;
  readonly buyers: number;
  /** ms of work for each sale. */
  readonly work: number;
}

export interface Result {
  readonly way: string;
  readonly units: number;
  /** Orders that were written: the truth. */
  readonly sold: number;
  readonly oversold: number;
  readonly leftOver: number;
  readonly ordersPerSecond: number;
  /** ms until a buyer had an answer. */
  readonly p99: number;
  readonly commandsPerSale: number | undefined;
  readonly handOvers: number;
  readonly unsafe: boolean;
  readonly right: boolean;
}

/**
 * One sale: real processes, each with its share of the buyers, who all come at once.
 * @param database the URL of the shop's database
 * @param locks the URL of the engine
 */
export async function round(
  shops: Shops,
  { id, name, segments, unsafe = false }: Way,
  database: string,
  locks: string,
  { units, buyers, work }: Size,
): Promise<Result> {
  await using stack = new AsyncDisposableStack();
  const till = openTill(database);
  stack.defer(() => till.end());
  const stock = createStock(till.store);
  const product = `phone ${id} ${Date.now()}`;
  stack.defer(() => till.remove(product));
  if (segments > 0) {
    const goods = await stock.create(product, { units, segments });
    stack.defer(() => stock.remove(product));
    await goods.closeRestocking(); // there is no more: once it is sold out, a process knows that without asking
  } else await till.setCount(product, units);
  await shops.open({ way: id, product, till: database, locks });
  stack.defer(() => shops.close());

  const [commands, handOvers] = [await till.commands(), await shops.handOvers()];
  const began = performance.now();
  const waits = await shops.rush(
    Array.from({ length: buyers }, (_, n) => `buyer ${n + 1}`),
    work,
  );
  const seconds = (performance.now() - began) / 1_000;
  const sent = await till.commands();
  const sold = await till.orders(product);
  const wanted = Math.min(units, buyers);
  return {
    way: name,
    units,
    sold,
    oversold: Math.max(0, sold - units),
    leftOver: Math.max(0, wanted - sold),
    ordersPerSecond: Math.round(sold / seconds),
    p99: Math.round(percentile(waits, 0.99)),
    commandsPerSale: sent === undefined ? undefined : Number(((sent - (commands ?? 0)) / Math.max(1, sold)).toFixed(2)),
    handOvers: (await shops.handOvers()) - handOvers,
    unsafe,
    right: sold === wanted,
  };
}
