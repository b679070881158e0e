import type { Mutex } from '../primitives/mutex.ts';
import type { Sale, SellOrder, Sold, Wish } from './order.ts';
import type { Seller } from './seller.ts';

/**
 * Sells under the lock of the buyer's segment: the units are reserved before `work`, confirmed after it, and given back when it
 * throws. Where the layout changed while we waited, another lock is the right one, and all begins anew.
 */
export async function sellUnderLock<T>(
  seller: Seller,
  lockOf: (segment: number) => Mutex,
  { wait, signal }: SellOrder,
  wish: Wish,
  work: (sale: Sale) => Promise<T> | T,
): Promise<Sold<T>> {
  for (;;) {
    const segment = await seller.segmentOf(wish);
    const sold = await lockOf(segment).run<Sold<T> | undefined>(
      async (lease) => {
        const { token } = lease;
        const kept = await seller.obtainAt(segment, wish, `${token}`);
        if (!kept || kept.remaining === 0) return kept;
        let result: T;
        try {
          result = await work({ ...kept, token, signal: lease.signal });
        } catch (error) {
          await seller.settle(kept.ref, 'cancelled', `${token}`).catch(() => {}); // it runs out by itself
          throw error;
        }
        return { ...(await seller.settle(kept.ref, 'sold', `${token}`)), repeated: false, result };
      },
      { ...(wait === undefined ? {} : { wait }), ...(signal === undefined ? {} : { signal }) },
    );
    if (sold) return sold;
  }
}
