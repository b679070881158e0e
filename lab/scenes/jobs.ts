import type { LockOptions } from '../../src/core/contract/options.ts';
import type { Actor } from '../stage/actor.ts';
import type { StoreClient } from '../stage/store-client.ts';

/** How often naive code asks again, ms. */
export const POLL = 80;
export const FOR_EVER = Number.POSITIVE_INFINITY;

/** As the library does it: takes the lock, counts for so long, gives it back. */
export const withLock = (ms: number, options: LockOptions = {}) => {
  return (actor: Actor): Promise<void> =>
    actor.lock.run(async (lease) => {
      actor.has(lease);
      try {
        await actor.counts(ms, lease);
      } finally {
        actor.gives();
      }
    }, options);
};

/** Asks again and again until it is there. */
export async function polls(actor: Actor, ttl: number, pause = POLL): Promise<void> {
  while (!(await actor.store.add(ttl))) await actor.sleep(pause);
}

type Step = (actor: Actor) => Promise<unknown>;

/** As naive code does it: `take`, count, delete. */
export const naively = (ms: number, take: Step, give: Step = ({ store }) => store.delete()) => {
  return async (actor: Actor): Promise<void> => {
    await take(actor);
    actor.has();
    await actor.counts(ms);
    actor.gives();
    await give(actor);
  };
};

/** Tries once more after a while, for any error. */
export async function insists<T>(actor: Actor, work: (store: StoreClient) => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work(actor.store);
    } catch {
      await actor.sleep(POLL);
    }
  }
}
