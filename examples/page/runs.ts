import { Redis } from 'ioredis';
import { createStock, redisStock } from '../../src/stock/index.ts';
import { round as sale } from '../flash-sale/round.ts';
import { WAYS } from '../flash-sale/ways.ts';
import { type DatabaseName, openDatabase } from '../grab-order/database.ts';
import { createOrders } from '../grab-order/orders.ts';
import { round as grab } from '../grab-order/round.ts';
import { Servers } from '../grab-order/servers.ts';
import { STRATEGIES } from '../grab-order/strategies.ts';

export interface Choice {
  readonly id: string;
  readonly scenario: 'Flash sale' | 'Grab an order';
  readonly name: string;
}

export const CHOICES: readonly Choice[] = [
  ...WAYS.map(({ name }, i) => ({ id: `sale-${i}`, scenario: 'Flash sale' as const, name })),
  ...STRATEGIES.map(({ name, words }) => ({
    id: `grab-${name}`,
    scenario: 'Grab an order' as const,
    name: `${name}: ${words}`,
  })),
];

/** A moment of a run. */
export interface Moment {
  /** Orders that were written: units sold, or drivers to whom an order was promised. */
  readonly done: number;
  /** Of them, those that should not be. */
  readonly wrong: number;
  /** Buyers, or taps, without an answer. */
  readonly waiting: number;
  readonly answered: number;
  /** How often somebody who waited for a lock of holdfast got it. */
  readonly handOvers: number;
  /** Units in the reserve, then in each segment. */
  readonly bars: readonly number[];
}

export interface Ending {
  readonly right: boolean;
  readonly words: string;
}

const PROCESSES = 2;
const WORK = 5;

/** The runs of the page: one at a time, on servers that start when they are needed. */
export class Runs implements AsyncDisposable {
  readonly #servers = new Servers();
  readonly #withOrders = new Set<string>();

  /** @param size units and buyers of the sale, or orders and drivers */
  run(id: string, size: readonly [number, number], tell: (moment: Moment) => void): Promise<Ending> {
    const [kind, which] = [id.slice(0, 4), id.slice(5)];
    return kind === 'sale' ? this.#sale(Number(which), size, tell) : this.#grab(which, size, tell);
  }

  async #sale(way: number, [units, buyers]: readonly [number, number], tell: (moment: Moment) => void) {
    const url = await this.#servers.url('redis');
    const client = new Redis(url);
    client.on('error', () => {});
    try {
      const size = { units, buyers, processes: PROCESSES, work: WORK };
      const stock = createStock(redisStock(client));
      const { sold, oversold, leftOver, right } = await sale(way, url, client, stock, size, (moment) => {
        const { sold: done, levels, waiting, handOvers } = moment;
        const bars = levels ? [levels.reserve, ...levels.segments] : [];
        tell({ done, wrong: Math.max(0, done - units), waiting, answered: buyers - waiting, handOvers, bars });
      });
      if (oversold > 0) return { right, words: `${sold} orders for ${units} units: ${oversold} too many` };
      if (leftOver > 0) return { right, words: `${leftOver} units were left over while buyers asked` };
      return { right, words: `${sold} orders, right to the unit: none too many, none left over` };
    } finally {
      client.disconnect();
    }
  }

  async #grab(name: string, [orders, drivers]: readonly [number, number], tell: (moment: Moment) => void) {
    const strategy = STRATEGIES.find((each) => each.name === name)!;
    const database = await this.#database(strategy.inDatabase ? 'mariadb' : 'sqlite');
    const locks = strategy.needs ? await this.#servers.url(strategy.needs) : database;
    const taps = orders * drivers;
    const size = { orders, drivers, processes: PROCESSES, work: WORK };
    const result = await grab(strategy, database, locks, size, (moment) => {
      const { winners: done, wonTwice: wrong, answered, handOvers } = moment;
      tell({ done, wrong, waiting: Math.min(drivers, taps - answered), answered, handOvers, bars: [] });
    });
    const { right, wonTwice, wonByNobody, errors } = result;
    if (wonTwice > 0) return { right, words: `${wonTwice} of ${orders} orders were promised to more than one driver` };
    if (!right) return { right, words: `${wonByNobody} orders were won by nobody, ${errors} requests failed` };
    return { right, words: `each of ${orders} orders has exactly one driver` };
  }

  async #database(name: DatabaseName): Promise<string> {
    const url = await this.#servers.url(name);
    if (this.#withOrders.has(url)) return url;
    const orders = openDatabase(url);
    await createOrders(orders).finally(() => orders.end());
    this.#withOrders.add(url);
    return url;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#servers[Symbol.asyncDispose]();
  }
}
