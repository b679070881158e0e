import { memoryFence } from '../../src/fence/index.ts';
import type { Locks } from '../../src/index.ts';

/** The service that owns the stock. It has no lock; it checks the token that comes with each request. */
export class StockService {
  readonly #fence = memoryFence('stock of p1'); // sqlFence or redisFence, where the stock is in a database
  #units = 10;

  /** `GET /stock`, with the header `fencing-token`. */
  read(token: bigint): number {
    this.#fence.claim(token);
    return this.#units;
  }

  /** `PUT /stock`, with the same header. */
  write(token: bigint, units: number): void {
    this.#fence.write(token, () => {
      this.#units = units;
    });
  }
}

/** The service that has the lock. Every request it makes under it carries the token. */
export function sell(locks: Locks, stock: StockService, pay: () => Promise<void>): Promise<number> {
  return locks.mutex('stock:p1').run(
    async ({ token }) => {
      const units = stock.read(token);
      if (units === 0) throw new Error('sold out');
      await pay();
      stock.write(token, units - 1);
      return units - 1;
    },
    { wait: '5s' },
  );
}
