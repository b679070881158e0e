/** One process of one contestant: opens it, and puts it under load as it is told. */
import { existsSync } from 'node:fs';
import { serve } from '../test/kit/worker.ts';
import type { Contestant, Contestants, Place } from './contestant.ts';
import { type Cycles, type CyclesPlan, cycles, drained } from './loads/cycles.ts';
import { garbage } from './loads/garbage.ts';
import { type Held, keepMany, takeMany } from './loads/holds.ts';
import { ask, failures, type Served, served } from './loads/once.ts';
import { type Leg, machineTime, relay } from './loads/relay.ts';
import { waiters } from './loads/waiters.ts';

let contestant: Contestant;

const calls = {
  async open(group: string, name: string, place: Place): Promise<void> {
    const has = existsSync(new URL(`contestants/${group}.ts`, import.meta.url));
    const { default: contestants }: { default: Contestants } = await import(
      `./contestants/${has ? group : 'connected'}.ts`
    );
    const opened = await contestants[name]!(place);
    contestant = { ...opened, lock: (key) => opened.lock(`${place.run}:${key}`) };
  },
  cycles: (plan: CyclesPlan): Promise<Cycles> => cycles(contestant, plan),
  garbage: (plan: CyclesPlan): Promise<number> => garbage(contestant, plan),
  async drained(): Promise<void> {
    await drained();
  },
  relay: (legs: number, hold: number, pause: number): Promise<Leg[]> => relay(contestant, legs, hold, pause),
  ask(key: string, callers: number, ms: number): void {
    ask(contestant, key, callers, ms);
  },
  failed: (): string[] => failures,
  served: (): Promise<Served> => served(),
  takeMany: (count: number): Promise<void> => takeMany(contestant, count),
  keepMany: (ms: number): Promise<Held> => keepMany(ms),
  waiters: (count: number): Promise<number> => waiters(contestant, count),
  /** When it got the key, which it keeps. */
  async take(key: string): Promise<number> {
    await contestant.lock(key)();
    return machineTime();
  },
};

export type BenchWorker = typeof calls;
serve(calls);
