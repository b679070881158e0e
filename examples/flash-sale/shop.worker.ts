/** One process of the shop. */

import { createStock } from '../../products/stock/index.ts';
import { connect } from '../../src/connect/index.ts';
import type { Locks } from '../../src/index.ts';
import { serve } from '../../test/kit/worker.ts';
import { countHandOvers } from '../hand-overs.ts';
import { note, noting, takeNotes } from '../rush/notes.ts';
import { type Starting, StartSignal } from '../rush/start-signal.ts';
import { openTill, type Till } from './till.ts';
import { type Sell, wayOf } from './ways.ts';

export interface Plan {
  readonly way: string;
  readonly product: string;
  /** The URL of the shop's database. */
  readonly till: string;
  /** The URL of the engine. */
  readonly locks: string;
}

const signal = new StartSignal();
const handOvers = countHandOvers();
let opened: { readonly till: Till; readonly locks: Locks; readonly sell: Sell; readonly product: string } | undefined;

async function close(): Promise<void> {
  const was = opened;
  opened = undefined;
  await was?.locks.close();
  await was?.till.end();
}

/** @returns the ms that the buyer waited for an answer */
async function buy(buyer: string): Promise<number> {
  const { sell, till, product } = opened!;
  const began = performance.now();
  note(buyer, 'taps');
  const order = async (thing: number): Promise<void> => {
    await till.order(product, buyer);
    note(buyer, 'writes', { thing });
  };
  const sale = noting(buyer, () => sell(buyer, { pay: () => signal.checkPrice(), order }));
  signal.tapped();
  note(buyer, 'told', { won: await sale });
  return performance.now() - began;
}

export type Calls = typeof calls;

const calls = {
  async open({ way, product, ...plan }: Plan): Promise<void> {
    await close();
    const till = openTill(plan.till);
    const locks = await connect(plan.locks);
    const stock = createStock(till.store, { locks });
    opened = { till, locks, product, sell: await wayOf(way).open({ till, locks, stock, product }) };
    takeNotes();
  },
  /** All of them at once; the ms that each waited for the answer. */
  buy(buyers: readonly string[], work: number): Promise<number[]> {
    signal.expect(buyers.length, work);
    return Promise.all(buyers.map(buy));
  },
  everyone: () => signal.everyone(),
  give: () => signal.give(),
  takeNotes,
  /** How often one who waited for a lock got it. */
  handOvers: (): number => handOvers(),
  close,
} satisfies Starting & Record<string, unknown>;

serve(calls);
