import { freePorts } from './net.ts';
import { startRedis } from './redis.ts';
import { serve } from './worker.ts';

const calls = {
  async start(): Promise<{ port: number; pid: number }> {
    const { port, pid } = await startRedis();
    return { port, pid };
  },
  ports: (count: number): Promise<number[]> => freePorts(count),
};

export type ServerCalls = typeof calls;
serve(calls);
