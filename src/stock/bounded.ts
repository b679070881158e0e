import { systemClock } from '../core/contract/clock.ts';
import { LockError } from '../core/contract/errors.ts';
import { promiseOf } from '../core/contract/promises.ts';
import { CallTimeouts } from '../core/engine/call-timeouts.ts';
import { nameOf } from './address.ts';
import type { StockStore } from './store.ts';

/** The store with a time limit for every call: without an answer for `within` ms, the outcome is unknown. */
export function bounded(store: StockStore, within: number): StockStore {
  const timeouts = new CallTimeouts(systemClock);
  const { name, servers } = store;
  const limited = <T>(what: string, product: string, call: () => Promise<T>): Promise<T> =>
    timeouts.bound(promiseOf(call), within, () => {
      const message = `${name} did not answer within ${within} ms, asked to ${what} ${JSON.stringify(nameOf(product))}; it may have been done. Ask again, a sale with the same buyer and request`;
      return new LockError('LOCK_UNAVAILABLE', message, { backend: name });
    });
  return {
    name,
    servers,
    layout: (product) => limited('read the layout of', product, () => store.layout(product)),
    relayout: (product, was, layout) =>
      limited('change the layout of', product, () => store.relayout(product, was, layout)),
    step: (address, cell, steps) => limited('change the stock of', address, () => store.step(address, cell, steps)),
    clear: (address, cell) => limited('remove', address, () => store.clear(address, cell)),
  };
}
