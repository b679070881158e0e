import { recordsOf } from '../../src/transaction/query.ts';
import type { Database } from '../grab-order/database.ts';
import type { Fleet, Tap } from '../grab-order/fleet.ts';
import { openOrders } from '../grab-order/orders.ts';
import type { Side } from './record.ts';
import { timeline } from './timeline.ts';

const ORDERS = 3;
/** For each order, in each process. */
const DRIVERS = 2;
/** ms */
const WORK = 60;

/** All drivers of all orders tap in the same moment. */
export async function rushForOrders(
  fleet: Fleet,
  database: Database,
  urls: { readonly database: string; readonly locks: string },
  strategy: string,
  processes: number,
): Promise<Side> {
  await openOrders(database, ORDERS);
  await fleet.open({ strategy, ...urls, drivers: ORDERS * DRIVERS });
  try {
    const taps = tapsOf(processes);
    const answers = await fleet.rush(taps, WORK);
    if (answers.some(({ failed }) => failed)) throw new Error('a request of a driver was not answered');
    const rows = recordsOf(await database.query('SELECT id, driver FROM orders', []));
    const [wins] = recordsOf(await database.query('SELECT COUNT(*) AS n FROM wins', []));
    return {
      strategy,
      things: Array.from({ length: ORDERS }, (_, i) => ({ thing: i + 1, units: 1 })),
      people: taps.flatMap((each, process) =>
        each.map(({ driver, order }) => ({ who: driver, process, thing: order })),
      ),
      happenings: timeline(await fleet.notes()),
      owners: Object.fromEntries(rows.map(({ id, driver }) => [Number(id), String(driver)])),
      written: Number(wins?.n),
    };
  } finally {
    await fleet.close();
  }
}

/** Drivers have numbers from 1, process by process. */
function tapsOf(processes: number): Tap[][] {
  let number = 0;
  return Array.from({ length: processes }, () =>
    Array.from({ length: ORDERS * DRIVERS }, (_, i) => ({ driver: `${++number}`, order: (i % ORDERS) + 1 })),
  );
}
