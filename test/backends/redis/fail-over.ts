import { expect } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import type { Backend } from '../../../src/core/contract/backend.ts';
import { memoryFence } from '../../../src/fence/index.ts';
import { createLocks, isLockError, type Lease } from '../../../src/index.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import type { Fleet, Library } from './fleet.ts';
import { wish } from './scene.ts';

/** Core asks every 2 s at the latest; the rest is for a busy machine. */
const POLL = 3_500;

/** ms until a client of this kind writes again, whatever else it does meanwhile. */
async function firstWrite(backend: Backend, key: (name: string) => string): Promise<number> {
  const began = performance.now();
  let at: number | undefined;
  await until(
    'the client writes again',
    () => {
      const claim = wish(key(`probe:${performance.now()}`), { queue: false, ttl: 1_000, within: 500 });
      backend.attempt(claim).then(
        ({ granted }) => {
          if (granted) at ??= performance.now();
        },
        () => {},
      );
      return at !== undefined;
    },
    20_000,
  );
  return at! - began;
}

export interface Struck {
  /** ms until the client's first write, and until the waiter held. */
  readonly write: number;
  readonly served: number;
  /** Whether the hold that was renewed is still held. */
  readonly kept: boolean;
}

/** A primary is lost while its locks are held and waited for. `key` makes keys that it has. */
export async function loseThePrimary(
  fleet: Fleet,
  library: Library,
  key: (name: string) => string,
  strike: () => Promise<void>,
): Promise<Struck> {
  const [one, two, probe] = [await fleet.backend(library), await fleet.backend(library), await fleet.backend(library)];
  await using holders = createLocks(one);
  await using waiters = createLocks(two);
  const kept = await holders.mutex(key('kept')).acquire({ ttl: 12_000 });
  const expiring = await holders.mutex(key('expiring')).acquire({ ttl: 1_500, renew: false });
  let toldWith: number | undefined;
  kept.signal.addEventListener('abort', () => {
    toldWith = kept.remaining;
  });
  const waiting = waiters.mutex(key('expiring')).acquire({ wait: 20_000 });
  await until('it stands in line', async () => {
    for await (const standing of probe.inspect!(key('expiring'))) if (!standing.held) return true;
    return false;
  });
  await strike();
  const struck = performance.now();
  const [write, lease] = await Promise.all([firstWrite(probe, key), settleWithin('the waiter holds', waiting, 20_000)]);
  const served = performance.now() - struck;
  expect(served, 'the waiter proceeds soon after the client can write').toBeLessThan(Math.max(write, 1_500) + POLL);
  expect(expiring.held, 'nobody holds what another holds').toBe(false);
  expect(lease.token).toBeGreaterThan(expiring.token);
  await lease.release();
  const rival = await waiters.mutex(key('kept')).tryAcquire();
  if (rival) expect(kept.held, 'nobody holds what another holds').toBe(false);
  if (kept.signal.aborted) expect(toldWith, 'the holder is told before its deadline').toBeGreaterThan(0);
  return { write, served, kept: kept.held };
}

/**
 * A primary is lost that alone knew of a grant. Counts the holders that are inside their deadlines at once, unfenced, and
 * what a resource that checks tokens makes of their writes.
 */
export async function forget(
  fleet: Fleet,
  library: Library,
  key: string,
  isolate: () => Promise<void>,
  strike: () => Promise<void>,
): Promise<{ holders: number; written: string[] }> {
  // A holder that hears of nothing, as over a network that parted. Else it may learn of its loss before the next one is asked for.
  await using before = createLocks(around(await fleet.backend(library), { watchHold: undefined }));
  await using after = createLocks(await fleet.backend(library));
  await before.mutex(`${key}:warm`).run(() => {});
  await isolate();
  const old = await before.mutex(key).acquire({ ttl: 60_000 });
  await strike();
  const granted: Lease[] = [];
  await until(
    'the new primary grants it again',
    async () => {
      const lease = await after.mutex(key).tryAcquire();
      if (lease) granted.push(lease);
      return granted.length > 0;
    },
    20_000,
  );
  const [next] = granted as [Lease];
  const holders = [old, next].filter(({ held }) => held).length;
  const fence = memoryFence(key);
  const written: string[] = [];
  for (const [name, { token }] of [
    ['next', next],
    ['old', old],
  ] as const) {
    try {
      await fence.claim(token);
      written.push(name);
    } catch (error) {
      if (!isLockError(error, 'LOCK_FENCED')) throw error;
    }
  }
  return { holders, written };
}
