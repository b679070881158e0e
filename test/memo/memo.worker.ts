import { connect } from '../../src/connect/index.ts';
import { serve, tell } from '../kit/worker.ts';

const locks = await connect(process.env.URL!);
const started: string[] = [];
const ends = new Map<string, (value: string) => void>();

const calls = {
  /** Many callers of one key. The work ends when `end` is called. @returns what each has, and how many ran */
  async ask(key: string, callers: number, ttl = 30_000): Promise<{ values: string[]; ran: number; tokens: bigint[] }> {
    const memo = locks.memo<string>(key, { keep: '1h', ttl });
    const work = (): Promise<string> => {
      started.push(key);
      tell('started', key);
      return new Promise((resolve) => ends.set(key, resolve));
    };
    const results = await Promise.all(Array.from({ length: callers }, () => memo.run(work)));
    return {
      values: results.map(({ value }) => value),
      ran: results.filter(({ ran }) => ran).length,
      tokens: results.map(({ token }) => token),
    };
  },
  end: (key: string, value: string): void => ends.get(key)?.(value),
  state: async (key: string): Promise<string> => (await locks.memo(key, { keep: '1h' }).peek()).state,
};

export type MemoCalls = typeof calls;
serve(calls);
