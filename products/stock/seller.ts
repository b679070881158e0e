import type { Mutex } from '../../src/primitives/lock.ts';
import { StepBatcher } from './batching.ts';
import type { Reply, Step, Take } from './cell.ts';
import type { Cells } from './cells.ts';
import { errorOf, refusal } from './errors.ts';
import type { CheckedOrder, Reserved, Sale, SellOrder, Sold } from './input.ts';
import { formerHomes, homeOf, type LayoutCache } from './layout.ts';
import type { Layout } from './store.ts';
import { Supply } from './supply.ts';

/** How often to read the layout again because others have changed it. */
const MAX_ATTEMPTS = 100;

/** A `ref`: segment, identity of the product, and request. */
const REF = /^(\d{1,4})\.(\w{1,64})\.(r:.{1,800})$/s;

/**
 * A buyer always buys from one segment, which keeps the buyer's requests and counts the bought units. If the segment is empty, units
 * are fetched into it: one step lets them arrive and takes them.
 */
export class Seller {
  readonly #cells: Cells;
  readonly #orders: StepBatcher;
  /** Questions have batches of their own, because the engine does a batch of only orders faster. */
  readonly #questions: StepBatcher;
  readonly #supply: Supply;
  readonly #layout: LayoutCache;
  #turn = 0;

  constructor(cells: Cells, layout: LayoutCache) {
    this.#cells = cells;
    const act = (cell: number, steps: readonly Step[]): Promise<readonly Reply[]> => cells.step(cell, steps);
    this.#orders = new StepBatcher(act);
    this.#questions = new StepBatcher(act);
    this.#supply = new Supply(cells, layout);
    this.#layout = layout;
  }

  /** The segment that has the request already, or else the segment that serves the order. */
  async segmentOf(order: CheckedOrder): Promise<number> {
    const layout = await this.#layout.get();
    const found = order.repeats ? await this.#former(layout, order) : 0;
    return typeof found === 'number' ? this.#home(order, layout) : found.segment;
  }

  async obtain(order: CheckedOrder): Promise<Reserved> {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
      const layout = this.#layout.known ?? (await this.#layout.read());
      const kept = await this.#take(layout, this.#home(order, layout), order, '');
      if (kept) return kept;
    }
    throw refusal({ is: 'stale' }, this.#cells.name);
  }

  /** @returns undefined if the layout has changed, so that the order needs the lock and the token of another segment */
  async obtainAt(segment: number, order: CheckedOrder, token: string): Promise<Reserved | undefined> {
    const layout = await this.#layout.get();
    const size = layout.sizes.at(-1)!;
    const here = order.routed === undefined ? segment < size : homeOf(order.routed, size) === segment;
    const kept = here ? await this.#take(layout, segment, order, token) : await this.#former(layout, order);
    if (typeof kept !== 'object') return undefined;
    if (kept.remaining === 0) return kept;
    if (kept.segment !== segment) return undefined;
    // What was reserved before a resize is taken once more, so that its segment refuses sellers with older tokens.
    return here ? kept : this.#take({ ...layout, sizes: [size] }, segment, order, token);
  }

  #home({ routed }: CheckedOrder, { sizes }: Layout): number {
    const size = sizes.at(-1)!;
    return routed === undefined ? this.#turn++ % size : homeOf(routed, size);
  }

  async #take(layout: Layout, segment: number, order: CheckedOrder, token: string): Promise<Reserved | undefined> {
    const { id, buyer, units, ttl, came } = order;
    if (!order.repeats) {
      const known = this.#supply.refusal(units, came);
      if (known) throw known;
      if (this.#supply.over(units)) throw await this.#supply.finalRefusal(units);
    }
    const { epoch, limit, sizes } = layout;
    const former = sizes.length === 1 ? 0 : await this.#former(layout, order);
    if (typeof former !== 'number') return former;
    const take: Take = { op: 'take', epoch, id, buyer, units, ttl, limit, already: former, token };
    // Under the segment's lock, orders come one at a time. Without it, many may come at once.
    const first = token === '' ? await this.#orders.ask(segment, take) : (await this.#cells.step(segment, [take]))[0]!;
    const reply = first.is === 'empty' ? await this.#supply.fetch(segment, take, came) : first;
    if (reply.is === 'stale') {
      await this.#layout.read();
      return undefined;
    }
    return this.#kept(layout, segment, id, reply);
  }

  /** @param ref as the caller gave it, unchecked @param token as digits; '' without a lock */
  async settle(ref: string, to: 'sold' | 'cancelled', token: string): Promise<Reserved> {
    const [, cell, identity, id] = REF.exec(typeof ref === 'string' ? ref : '') ?? [];
    const within = ({ cells }: Layout): boolean => Number(cell) < cells;
    // Another process may have added the segment since the layout was read here.
    if (id === undefined || !(within(await this.#layout.get()) || within(await this.#layout.read()))) {
      throw errorOf('STOCK_INVALID', this.#cells.name, ': this is no ref of a reservation of the product');
    }
    const layout = await this.#layout.get();
    if (layout.identity !== identity) throw refusal({ is: 'unknown' }, this.#cells.name);
    const [reply] = await this.#cells.step(Number(cell), [{ op: 'settle', id, to, token }]);
    if (reply!.is !== 'done' && reply!.is !== to) throw refusal(reply!, this.#cells.name);
    return { ...this.#reserved(layout, Number(cell), id, reply!), remaining: 0 };
  }

  /** Looks into the buyer's segments before resizes. @returns this request, if it was made there; otherwise the buyer's units there */
  async #former(layout: Layout, order: CheckedOrder): Promise<Reserved | number> {
    const { sizes, limit } = layout;
    const { routed, repeats, id, buyer } = order;
    // These segments matter only if the request may be a repeat, or if the buyer has a limit.
    if (routed === undefined || !(repeats || (limit > 0 && buyer !== ''))) return 0;
    const homes = formerHomes(routed, sizes);
    const answers = await Promise.all(homes.map((home) => this.#questions.ask(home, { op: 'find', id, buyer })));
    let bought = 0;
    for (const [i, home] of homes.entries()) {
      const found = answers[i];
      if (found!.is !== 'unknown') {
        if (found!.units !== order.units || (order.ttl === 0 && found!.is === 'reserved')) {
          throw refusal({ is: 'reused' }, this.#cells.name);
        }
        return this.#kept(layout, home, order.id, found!);
      }
      bought += found!.bought!;
    }
    return limit > 0 ? bought : 0;
  }

  #kept(layout: Layout, segment: number, id: string, reply: Reply): Reserved {
    if (reply.is !== 'done' && reply.is !== 'reserved' && reply.is !== 'sold') throw refusal(reply, this.#cells.name);
    return this.#reserved(layout, segment, id, reply);
  }

  #reserved({ identity }: Layout, segment: number, id: string, { is, units, until, now }: Reply): Reserved {
    const remaining = Math.max(0, until! - now!);
    return { ref: `${segment}.${identity}.${id}`, units: units!, segment, remaining, repeated: is !== 'done' };
  }
}

/** Sells under the lock of the order's segment. If a resize during the wait for the lock changes the segment, the sale begins again. */
export async function sellUnderLock<T>(
  seller: Seller,
  lockOf: (segment: number) => Mutex,
  { wait, signal }: SellOrder,
  order: CheckedOrder,
  work: (sale: Sale) => Promise<T> | T,
): Promise<Sold<T>> {
  for (;;) {
    const segment = await seller.segmentOf(order);
    const sold = await lockOf(segment).run<Sold<T> | undefined>(
      async (lease) => {
        const { token } = lease;
        const kept = await seller.obtainAt(segment, order, `${token}`);
        if (!kept || kept.remaining === 0) return kept;
        let result: T;
        try {
          result = await work({ ...kept, token, signal: lease.signal });
        } catch (error) {
          await seller.settle(kept.ref, 'cancelled', `${token}`).catch(() => {}); // otherwise the reservation runs out
          throw error;
        }
        return { ...(await seller.settle(kept.ref, 'sold', `${token}`)), repeated: false, result };
      },
      { wait, signal },
    );
    if (sold) return sold;
  }
}
