import type { Locks } from '../../src/index.ts';

export interface Statistic {
  readonly builtAt: number;
  readonly value: number;
}

export interface Store {
  read(): Promise<Statistic | undefined>;
  write(statistic: Statistic): Promise<void>;
}

const FRESH = 60_000;
const isFresh = (found: Statistic | undefined): found is Statistic => !!found && Date.now() - found.builtAt < FRESH;

/** One caller builds. Who has an old one to show shows it; who has none waits for the new one. */
export async function statistic(locks: Locks, store: Store, build: () => Promise<number>): Promise<Statistic> {
  const found = await store.read();
  if (isFresh(found)) return found;
  const lock = locks.mutex('statistic');
  const lease = found ? await lock.tryAcquire() : await lock.acquire({ wait: '30s' });
  if (!lease) return found!;
  await using _ = lease;
  const meanwhile = await store.read(); // whoever had the lock before may have built it
  if (isFresh(meanwhile)) return meanwhile;
  const built = { builtAt: Date.now(), value: await build() };
  lease.assertHeld();
  await store.write(built);
  return built;
}
