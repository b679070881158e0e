import { appendFileSync } from 'node:fs';
import { connect } from '../../src/connect/index.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { OnceOptions } from '../../src/index.ts';
import { serve, tell } from '../kit/worker.ts';

const ahead = Number(process.env.AHEAD);
const locks = await connect(process.env.URL!, {
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
