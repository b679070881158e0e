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

/** Runs `work` once at a time in this process. All calls in the meantime get its result, or its error. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let flight: Promise<T> | undefined;
  return () => {
    flight ??= work().finally(() => {
      flight = undefined;
    });
    return flight;
  };
}

/**
 * Made once per process. One caller of all processes builds. A caller that has an old statistic gets it at once; a caller that
 * has none waits for the new one, or gets the error of the build.
 */
export function statisticOf(
  locks: Locks,
  store: Store,
  build: () => Promise<number>,
  warn: (error: unknown) => void = console.warn,
): () => Promise<Statistic> {
  const read = shared(() => store.read());
  const rebuilt = shared(() =>
    locks.mutex('statistic', { ttl: '5s' }).run(
      async (lease) => {
        const found = await store.read(); // the holder before this one may have built it
        if (isFresh(found)) return found;
        const built = { builtAt: Date.now(), value: await build() };
        lease.assertHeld();
        await store.write(built);
        return built;
      },
      { wait: '30s' },
    ),
  );
  return async () => {
    const found = await read();
    if (isFresh(found)) return found;
    const next = rebuilt();
    if (!found) return next;
    next.catch(warn);
    return found;
  };
}
