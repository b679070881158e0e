import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createStock, type Product, redisStock, type Stock } from '../../products/stock/index.ts';
import { startWorker } from '../kit/processes.ts';
import { startRedis } from '../kit/redis.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import type { Calls, Way } from './processes.worker.ts';
import { ioredisAt } from './stores.ts';

const WORKER = new URL('./processes.worker.ts', import.meta.url);
/** Long enough for a sale, short enough to wait for. ms. */
const TTL = 700;

// Many processes that start one after the other, and real time that has to run out.
vi.setConfig({ testTimeout: 60_000 });

describeOn('redis', 'stock among processes', () => {
  const stack = new AsyncDisposableStack();
  let server: Server;
  let stock: Stock;
  beforeAll(async () => {
    server = stack.use(await startRedis({ appendonly: 'yes', appendfsync: 'always' }));
    stock = createStock(redisStock(ioredisAt(server.port, stack)));
  });
  afterAll(() => stack.disposeAsync());

  const start = () => startWorker<Calls>(WORKER, { env: { REDIS_PORT: `${server.port}` } });
  const sold = async (product: Product) => (await product.levels()).sold;

  async function soldOutInTheEnd(product: Product): Promise<void> {
    const audit = await product.audit();
    expect(audit.right, JSON.stringify(audit)).toBe(true);
    await sleep(TTL);
    await product.closeRestocking();
    const rest = async (): Promise<never> => {
      for (;;) await product.take();
    };
    await expect(rest()).rejects.toThrow(expect.objectContaining({ code: 'STOCK_SOLD_OUT', final: true }));
    const end = await product.audit();
    expect(end).toMatchObject({ right: true, sold: end.put, reserved: 0, transit: 0 });
  }

  test.each<Way>([
    'take',
    'reserve',
    'sell',
  ])('sellers killed anywhere in "%s" lose no unit, and sell none twice', async (way) => {
    const product = await stock.create(`killed ${way}`, { units: 400, segments: 6, reserve: 0.5 });
    for (const from of [3, 60, 150]) {
      await using seller = await start();
      seller.call('sellOut', product.name, way, TTL).catch(() => {});
      await until('it sells', async () => (await sold(product)) >= from);
      await seller.kill();
      expect((await product.audit()).right).toBe(true);
    }
    await using one = await start();
    await using two = await start();
    const before = await sold(product);
    const counts = await Promise.all([one, two].map((seller) => seller.call('sellOut', product.name, way, TTL)));
    expect(before + counts[0]! + counts[1]!, 'sold by those who lived').toBeLessThanOrEqual(await sold(product));
    await soldOutInTheEnd(product);
  });

  test('a rebalancer killed in the middle of its moves is followed by another, and nothing is lost', async () => {
    const product = await stock.create('rebalanced', { units: 200, segments: 4, reserve: 1 });
    await using next = await start();
    const moved = async () => (await product.levels()).segments.reduce((sum, units) => sum + units, 0);
    for (const from of [5, 40]) {
      await using first = await start();
      first.call('rebalance', product.name).catch(() => {});
      await until('it moves', async () => (await moved()) >= from);
      await first.kill();
      expect((await product.audit()).right).toBe(true);
    }
    await product.closeRestocking();
    await next.call('rebalance', product.name);
    expect(await product.levels()).toMatchObject({ reserve: 0 });
    await soldOutInTheEnd(product);
  });

  test('a server that is killed and comes back with its log has forgotten no sale', async () => {
    const product = await stock.create('restarted', { units: 50, segments: 3 });
    const kept = await product.reserve({ buyer: 'a', request: 'r', units: 2 });
    for (let i = 0; i < 10; i++) await product.take({ buyer: `buyer ${i}` });
    await server.restart();
    await until('the client is back', () => product.audit().then(({ right }) => right));
    expect(await product.audit()).toMatchObject({ right: true, sold: 10, reserved: 2 });
    expect(await product.reserve({ buyer: 'a', request: 'r', units: 2 })).toMatchObject({
      ref: kept.ref,
      repeated: true,
    });
    await product.confirm(kept.ref);
    await soldOutInTheEnd(product);
  });
});
