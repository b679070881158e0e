import type { Mutex } from '../primitives/lock.ts';
import type { CheckedOrder, Sale, SellOrder, Sold } from './order.ts';
import type { Seller } from './seller.ts';

/** If the layout changed while it waited for the lock of the segment, another lock is the right one, and it begins again. */
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
          await seller.settle(kept.ref, 'cancelled', `${token}`).catch(() => {}); // it runs out by itself
          throw error;
        }
        return { ...(await seller.settle(kept.ref, 'sold', `${token}`)), repeated: false, result };
      },
      { wait, signal },
    );
    if (sold) return sold;
  }
}
