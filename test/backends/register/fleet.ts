import { manualClock } from '../../../products/testing/index.ts';
import { stepUntilEnd } from '../../../products/testing/limited.ts';
import { type RegisterStore, register } from '../../../src/backends/register/index.ts';
import { createLocks, isLockError, type Lease, type Locks } from '../../../src/index.ts';
import { memoryStore, shared } from '../../kit/register-store.ts';

/** What happens to one key that many processes want. */
export interface Fleet {
  readonly processes: number;
  readonly ttl: number;
  readonly seed?: number;
  /** The waiters come within so many ms. */
  readonly arrival?: number;
  /** ms: for so long the holder stays, once all others wait. */
  readonly hold?: number;
  /** Whether the holder leaves then, and all others have their turn. */
  readonly serves?: boolean;
}

/** What became of it. */
export interface FleetReport {
  /** While one held and all others waited. */
  readonly requestsPerSecond: number;
  readonly refused: number;
  /** From the first request until then: how many requests, and the part of the writes that was refused. */
  readonly joining: { readonly requests: number; readonly refused: number; readonly seconds: number };
  readonly lost: number;
  readonly failed: Readonly<Record<string, number>>;
  readonly waiting: number;
  readonly served: number;
  /** From the release of the first one until all were served, s. */
  readonly servingSeconds: number;
}

/** ms: most requests take so long, and of a hundred one takes longer. */
const REQUEST = { least: 42, most: 63, longest: 279 };

/** Processes in virtual time: the store is that of the tests, as far away as an object store. */
export async function fleet(wanted: Fleet): Promise<FleetReport> {
  const { processes, ttl, seed = 1, arrival = 10_000, hold = 60_000, serves = false } = wanted;
  const clock = manualClock(seed);
  const all = shared();
  const counts = { requests: 0, writes: 0, refused: 0 };
  const way = async (): Promise<void> => {
    const { least, most, longest } = REQUEST;
    const took =
      clock.random() < 0.01 ? most + clock.random() * (longest - most) : least + clock.random() * (most - least);
    await new Promise<void>((resolve) => clock.after(took / 2, resolve));
  };
  const store = (): RegisterStore => {
    const near = memoryStore(all, { clock, minTtl: 1_000 });
    return {
      ...near,
      spin: { pause: 100, bound: 5_000 },
      async read(key, signal) {
        if (key.includes('/l/')) counts.requests++;
        await way();
        const entry = await near.read(key, signal);
        await way();
        return entry;
      },
      async write(key, text, ifVersion, signal) {
        const counted = key.includes('/l/') ? 1 : 0;
        counts.requests += counted;
        counts.writes += counted;
        await way();
        const written = await near.write(key, text, ifVersion, signal);
        if (written === false) counts.refused += counted;
        await way();
        return written;
      },
    };
  };
  const fleet: Locks[] = Array.from({ length: processes }, () =>
    createLocks(register(store(), { clock }), { clock, ttl, wait: 'forever' }),
  );
  const failed: Record<string, number> = {};
  let [lost, served] = [0, 0];
  const over = <T>(work: Promise<T>): Promise<T> => stepUntilEnd(work, () => clock.advance(10));
  const watched = (lease: Lease): Lease => {
    lease.signal.addEventListener('abort', () => {
      if (!leaving.has(lease)) lost++;
    });
    return lease;
  };
  const leaving = new Set<Lease>();
  const leave = async (lease: Lease): Promise<void> => {
    leaving.add(lease);
    await lease.release();
  };
  const [first, ...others] = fleet;
  const holder = watched(await over(first!.mutex('k').acquire()));
  const began = clock.now();
  const turns = others.map(async (locks) => {
    await new Promise<void>((resolve) => clock.after(clock.random() * arrival, resolve));
    try {
      const lease = watched(await locks.mutex('k').acquire());
      await new Promise<void>((resolve) => clock.after(20, resolve));
      await leave(lease);
      served++;
    } catch (error) {
      const code = isLockError(error) ? error.code : 'other';
      failed[code] = (failed[code] ?? 0) + 1;
    }
  });
  const waiting = (): number => {
    const text = all.entries.get('holdfast/l/k')?.text ?? '{}';
    return ((JSON.parse(text) as { claims?: unknown[] }).claims?.length ?? 1) - 1;
  };
  while (waiting() < processes - 1 && clock.now() - began < arrival + 120_000) await clock.advance(100);
  const joining = {
    requests: counts.requests,
    refused: counts.refused / Math.max(1, counts.writes),
    seconds: (clock.now() - began) / 1_000,
  };
  Object.assign(counts, { requests: 0, writes: 0, refused: 0 });
  await clock.advance(hold);
  const report = {
    joining,
    requestsPerSecond: counts.requests / (hold / 1_000),
    refused: counts.refused / Math.max(1, counts.writes),
    waiting: waiting(),
  };
  const left = clock.now();
  if (serves) {
    await over(leave(holder));
    await over(Promise.all(turns));
  }
  return { ...report, lost, failed, served, servingSeconds: (clock.now() - left) / 1_000 };
}
