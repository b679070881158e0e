import { around } from '../../products/testing/around.ts';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { createLocks, type Locks, type TickRun } from '../../src/index.ts';

/** ms */
export const TTL = 3_000;

/** Several instances on one engine, each with a clock on the wall of its own, all moved by the test. */
export function scene() {
  const clock = manualClock(1);
  const engine = memory({ clock });
  const kept = around(engine, { close: async () => {} });
  const instance = (label: string, { ahead = 0, backend = kept } = {}): Locks =>
    createLocks(backend, { clock: { ...clock, epoch: () => clock.epoch() + ahead }, ttl: TTL, label });
  return { clock, engine, kept, instance, tick: clock.epoch() };
}

/** Functions that count themselves, and run until they are told to settle. */
export function work() {
  const runs: TickRun[] = [];
  const ends: PromiseWithResolvers<string>[] = [];
  const fn = (run: TickRun): Promise<string> => {
    runs.push(run);
    const end = Promise.withResolvers<string>();
    ends.push(end);
    return end.promise;
  };
  return { runs, ends, fn };
}

/** A backend that can be cut off from its engine. */
export function mortal(kept: Backend) {
  const state = { dead: false };
  const unless = <T>(call: () => Promise<T>): Promise<T> => (state.dead ? new Promise(() => {}) : call());
  const backend = around(kept, {
    attempt: (claim) => unless(() => kept.attempt(claim)),
    renew: (claims) => unless(() => kept.renew(claims)),
    release: (...of) => unless(() => kept.release(...of)),
  });
  return { state, backend };
}
