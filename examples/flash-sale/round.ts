import type { Redis } from 'ioredis';
import { percentile } from '../../src/cli/demo/verdict.ts';
import type { Levels, Stock } from '../../src/stock/index.ts';
import { startWorker } from '../../test/kit/processes.ts';
import type { Calls } from './shop.worker.ts';
import { countOf, WAYS } from './ways.ts';

export interface Size {
  readonly units: number;
  readonly buyers: number;
  readonly processes: number;
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
  readonly commandsPerSale: number;
  readonly handOvers: number;
  readonly unsafe: boolean;
  readonly right: boolean;
}

/** What a page shows while it runs. */
export interface Moment {
  /** Orders that were written. */
  readonly sold: number;
  readonly levels: Levels | undefined;
  /** Buyers without an answer. */
  readonly waiting: number;
  readonly handOvers: number;
}

const WORKER = new URL('./shop.worker.ts', import.meta.url);

/** One sale: real processes, each with its share of the buyers, who all come at once. */
export async function round(
  way: number,
  url: string,
  client: Redis,
  stock: Stock,
  { units, buyers, processes, work }: Size,
  progress: (moment: Moment) => void = () => {},
): Promise<Result> {
  const { name, segments, unsafe = false } = WAYS[way]!;
  const product = `phone ${way} ${Date.now()}`;
  const goods = segments > 0 ? await stock.create(product, { units, segments }) : undefined;
  await goods?.closeRestocking(); // there is no more: once it is sold out, a process knows that without asking
  if (!goods) await client.set(countOf(product), units);
  await using stack = new AsyncDisposableStack();
  const shops = await Promise.all(
    Array.from({ length: processes }, async () =>
      stack.use(await startWorker<Calls>(WORKER, { env: { REDIS_URL: url } })),
    ),
  );
  await Promise.all(shops.map((shop) => shop.call('open', way, product, work)));
  const look = async (): Promise<Moment> => {
    const looks = await Promise.all(shops.map((shop) => shop.call('look')));
    const sum = (what: 'waiting' | 'handOvers') => looks.reduce((total, each) => total + each[what], 0);
    const sold = await client.llen(`orders:${product}`);
    return { sold, levels: await goods?.levels(), waiting: sum('waiting'), handOvers: sum('handOvers') };
  };
  // The sale itself will say what is wrong.
  const watch = setInterval(() => void look().then(progress, () => {}), 200);
  try {
    const before = await commands(client);
    const began = performance.now();
    const waits = await Promise.all(
      shops.map((shop, i) =>
        shop.call(
          'buy',
          Array.from({ length: buyers }, (_, n) => `buyer ${n}`).filter((_, n) => n % processes === i),
        ),
      ),
    );
    const seconds = (performance.now() - began) / 1_000;
    const sent = (await commands(client)) - before;
    const end = await look();
    progress(end);
    const { sold, handOvers } = end;
    const wanted = Math.min(units, buyers);
    return {
      way: name,
      units,
      sold,
      oversold: Math.max(0, sold - units),
      leftOver: Math.max(0, wanted - sold),
      ordersPerSecond: Math.round(sold / seconds),
      p99: Math.round(percentile(waits.flat(), 0.99)),
      commandsPerSale: Number((sent / Math.max(1, sold)).toFixed(2)),
      handOvers,
      unsafe,
      right: sold === wanted,
    };
  } finally {
    clearInterval(watch);
    if (goods) await stock.remove(product);
    await client.del(countOf(product), `orders:${product}`);
  }
}

/** What clients sent: scripts, and the plain commands of the count and of the orders that no script uses. */
async function commands(client: Redis): Promise<number> {
  const stats = await client.info('commandstats');
  const sent = /^cmdstat_(?:evalsha|eval|rpush):calls=(\d+)/gm;
  return [...stats.matchAll(sent)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}
