/** A process that asks for memos, and tells at once what it sees of them: it may be killed at any moment. */
import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBackend } from '../../../../src/connect/open.ts';
import { createLocks } from '../../../../src/locks.ts';
import { serve, tell } from '../../../kit/worker.ts';
import { BROKEN } from '../broken.ts';
import { Lag } from '../lag.ts';
import { type Asking, machineTime, type Told } from './told.ts';

/** Time between two looks of a runner at whether it holds the key, ms. */
const LOOK = 5;
const { URL: url, BROKEN: how } = process.env;
const engine = await openBackend(url!);
flushCompileCache(); // at the end it may be too late: it is killed
const locks = createLocks(how ? BROKEN[how]!(engine) : engine);

type Unstamped<E> = E extends Told ? Omit<E, 'at'> : never;
const say = (event: Unstamped<Told>, at = machineTime()): void => tell('told', { at, ...event });

async function asks(op: number, { key, by, ttl, takes, fails }: Asking): Promise<void> {
  say({ what: 'asked', op, by, key });
  try {
    const { value, ran, kept, token } = await locks.memo<string>(key, { keep: '1h', ttl }).run(async (run) => {
      const looks = (): void => {
        const at = machineTime(); // it may be stopped between the two
        if (run.held) say({ what: 'held', op }, at);
      };
      const at = machineTime();
      if (run.held) say({ what: 'begun', op, key, token: run.token }, at);
      else say({ what: 'late', op }, at);
      const looking = setInterval(looks, LOOK);
      await sleep(takes);
      looks();
      clearInterval(looking);
      say({ what: 'done', op, ...(!fails && { value: `value of ${op}` }) });
      if (fails) throw new Error(`error of ${op}`);
      return `value of ${op}`;
    });
    say({ what: 'had', op, key, value, ran, kept, token });
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    say({ what: 'missed', op, error: code ?? message });
  }
}

const calls = {
  /** Several callers of one key. @returns how late this process ran at worst, ms */
  async ask(ops: readonly number[], asking: Asking): Promise<number> {
    using lag = new Lag();
    await Promise.all(ops.map((op) => asks(op, asking)));
    return lag.most;
  },
};

export type AskerCalls = typeof calls;
serve(calls);
