import { freePorts, take } from './net.ts';
import { startRedis } from './redis.ts';
import { serve } from './worker.ts';

const calls = {
  async start(): Promise<{ port: number; pid: number }> {
    const { port, pid } = await startRedis();
    return { port, pid };
  },
  ports: (count: number): Promise<number[]> => freePorts(count),
  take: async (port: number, times: number): Promise<number> => {
    let got = 0;
    for (let asked = 0; asked < times; asked++) if (await take(port)) got++;
    return got;
  },
};

export type ServerCalls = typeof calls;
serve(calls);
