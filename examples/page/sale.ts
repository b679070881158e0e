import { createStock } from '../../products/stock/index.ts';
import type { Shops } from '../flash-sale/shops.ts';
import type { Till } from '../flash-sale/till.ts';
import { wayOf } from '../flash-sale/ways.ts';
import type { Side } from './record.ts';
import { timeline } from './timeline.ts';

const UNITS = 6;
const BUYERS = 15;
/** ms */
const WORK = 40;

let sales = 0;

/** All buyers of the last units come in the same moment. */
export async function rushForUnits(
  shops: Shops,
  till: Till,
  urls: { readonly till: string; readonly locks: string },
  strategy: string,
  processes: number,
): Promise<Side> {
  const { segments } = wayOf(strategy);
  const product = `sale-${process.pid}-${++sales}`;
  const stock = createStock(till.store);
  if (segments > 0) await (await stock.create(product, { units: UNITS, segments })).closeRestocking();
  else await till.setCount(product, UNITS);
  const count = Math.max(1, segments);
  try {
    await shops.open({ way: strategy, product, ...urls });
    const buyers = Array.from({ length: BUYERS }, (_, i) => `customer-${i + 1}`); // evenly over three segments
    await shops.rush(buyers, WORK);
    return {
      strategy,
      things: Array.from({ length: count }, (_, thing) => ({ thing, units: UNITS / count })),
      people: buyers.map((who, i) => ({ who, process: i % processes })),
      happenings: timeline(await shops.notes()),
      owners: {},
      written: await till.orders(product),
    };
  } finally {
    await shops.close();
    if (segments > 0) await stock.remove(product);
    await till.remove(product);
  }
}
