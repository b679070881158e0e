import { rateLimit } from '../../examples/recipes/rate-limit.ts';
import { connect } from '../../src/connect/index.ts';
import { serve, tell } from '../kit/worker.ts';

const locks = await connect(process.env.URL!);
/** ms, the same in every process of this machine. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

/** A process whose calls are counted by one clock. */
const calls = {
  /** Calls as fast as it is let, from several places at a time, and gives when each was sent. */
  async storm(name: string, rate: { calls: number; window: number }, callers: number, ms: number): Promise<number[]> {
    const limited = rateLimit(locks, name, rate);
    const sent: number[] = [];
    const until = now() + ms;
    const caller = async (): Promise<void> => {
      while (now() < until) await limited(() => sent.push(now()), '30s');
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return sent;
  },
  /** One call; tells that it was let, and when. */
  one(name: string, rate: { calls: number; window: number }, who: string): void {
    void rateLimit(locks, name, rate)(() => tell('called', { who, at: now() }), '30s');
  },
  waiters: async (name: string): Promise<number> => {
    let waiting = 0;
    for await (const { held } of locks.inspect(name)) if (!held) waiting++;
    return waiting;
  },
};

/** A call that was let. */
export interface Called {
  readonly who: string;
  readonly at: number;
}

export type LimitedCalls = typeof calls;
serve(calls);
