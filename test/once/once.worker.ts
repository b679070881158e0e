import { appendFileSync } from 'node:fs';
import { around } from '../../products/testing/around.ts';
import { openBackend } from '../../src/connect/open.ts';
import type { Backend } from '../../src/core/contract/backend.ts';
import { systemClock } from '../../src/core/contract/clock.ts';
import { createLocks, type OnceOptions } from '../../src/index.ts';
import { serve, tell } from '../kit/worker.ts';

const ahead = Number(process.env.AHEAD);
const never = new Promise<never>(() => {});
/** How many records it looks at; then it tells so, and each look stays as it is, to be killed in. */
let looks = Number(process.env.STAYS_IN_LOOKS ?? 0);

/** Without wake-ups, as where a pool has no connection to listen on: all leases are as long as they are asked for. */
function deaf(engine: Backend): Backend {
  const looked = (key: string): Promise<never> | undefined => {
    if (!process.env.STAYS_IN_LOOKS || !key.endsWith('#done')) return undefined;
    if (--looks === 0) tell('looks');
    return never;
  };
  const { hints, traits } = engine;
  return around(engine, {
    traits: { ...traits, wakes: 'never' },
    watch: undefined,
    release: (handle, next) => looked(handle.key) ?? engine.release(handle, next),
    hints: hints && {
      read: async (name) => hints.read(name).then((text) => looked(name) ?? text),
      write: (...of) => hints.write(...of),
    },
  });
}

const opened = await openBackend(process.env.URL!);
const locks = createLocks(process.env.DEAF ? deaf(opened) : opened, {
  clock: { ...systemClock, epoch: () => Date.now() + ahead },
});
let end = Promise.withResolvers<void>();

/** An instance whose clock is wrong by so much, that tells when it runs a tick. */
const calls = {
  /** Runs until `settle`, or for so long. */
  once(name: string, tick: number, options: OnceOptions, lasts?: number) {
    return locks.once(
      name,
      tick,
      async ({ token }) => {
        if (process.env.LOG) appendFileSync(process.env.LOG, `${name} ${tick}\n`);
        tell('runs', token);
        if (lasts === undefined) await end.promise;
        else await new Promise((resolve) => setTimeout(resolve, lasts));
        tell('ends', token);
      },
      options,
    );
  },
  settle(): void {
    end.resolve();
    end = Promise.withResolvers();
  },
  close: () => locks.close(),
};

export type OnceCalls = typeof calls;
serve(calls);
