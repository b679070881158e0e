import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { randomFrom } from '../../../../products/testing/random.ts';
import type { Backend } from '../../../../src/core/contract/backend.ts';
import { Choice } from '../../../simulation/choice.ts';
import type { MemoEvent } from '../../../simulation/memo/history.ts';
import { Lag } from '../lag.ts';
import { FOR_EVER, lookedUp, type Round, SCENE } from '../round.ts';
import { beliefs } from './beliefs.ts';
import type { RealProcess } from './process.ts';
import type { Told } from './told.ts';

const CALLERS = 2;

/** What a process has told when its fault begins to be due. */
const STEPS = { ask: 'asked', work: 'begun', release: 'done' } as const;
/** The longest time from there until it is done, ms. A release takes a few. */
const WITHIN = { ask: 20, release: 4 };

export interface RealPlan {
  readonly key: string;
  readonly seed: number;
  readonly ttl: number;
  /** What can be done to processes. */
  readonly kinds: readonly string[];
  /** Who is stopped inside a transaction keeps all others out for as long: of a file. */
  readonly blocks: boolean;
}

/** One key, asked for by processes of this machine, one of which is killed, stopped or cut off for real, at a moment drawn from the seed. */
export async function playRealRound(
  engine: Backend,
  processes: readonly RealProcess[],
  { key, seed, ttl, kinds, blocks }: RealPlan,
): Promise<Round> {
  using lag = new Lag();
  const choice = new Choice(randomFrom(seed));
  const step = choice.pick(['ask', 'work', 'work', 'release'] as const);
  const renewed = step === 'work' && choice.chance(0.5);
  const takes = renewed ? choice.between(ttl * 0.5, ttl * 0.9) : choice.between(10, 60);
  const fault = {
    kind: choice.pick(kinds),
    step,
    after: choice.chance(0.3) ? 0 : choice.between(0, step === 'work' ? takes : WITHIN[step]),
    ms: choice.chance(0.3) ? choice.between(5, ttl / 2) : choice.between(ttl * 1.1, ttl * 2),
  };
  // A step of the work is a fault of whoever makes it.
  const asker = choice.pick(processes);
  let victim = asker;
  let over = false;
  let fate: Promise<void> | undefined;
  await Promise.all(processes.map((process) => process.ready()));
  for (const process of step === 'ask' ? [asker] : processes)
    process.onTold = ({ what }) => {
      if (what !== STEPS[step] || fate) return;
      victim = process;
      const strike = (): Promise<void> | undefined => (over ? undefined : process.strike(fault.kind, fault.ms));
      fate = fault.after === 0 ? strike() : sleep(fault.after).then(strike);
    };
  const lags = processes.map(async (process, i) => {
    await sleep(i === 0 ? 0 : choice.between(1, 20));
    const ops = Array.from({ length: CALLERS }, (_, n) => i * CALLERS + n);
    return process.ask(ops, { key, by: process.name, ttl, takes, fails: choice.chance(0.1) });
  });
  const all = await Promise.race([Promise.all(lags), sleep(FOR_EVER, undefined, { ref: false })]);
  over = true;
  await fate;
  await nextTurn(); // what was told before the last answer is heard
  const { value } = await lookedUp(engine, key);
  const events = told(processes);
  const late = Math.max(lag.most, ...(all ?? []).filter((_, i) => processes[i]!.struck === undefined));
  for (const process of processes) process.leftAt = leftAt(process);
  return {
    ...{ seed, ttl, fault, victim: { ...seen(victim) }, processes: processes.map(seen), left: value },
    ...{ lag: late, busy: late + (blocks ? fault.ms : 0) },
    history: { seed, scene: SCENE, events },
  };
}

/** As it is now: the process goes on to the next round. */
const seen = ({ name, crashed, struck, leftAt }: RealProcess): Round['victim'] => ({ name, crashed, struck, leftAt });

/** Whose release nothing was done to, from when it was sent; else from when its answer was there. */
function leftAt({ told, struck }: RealProcess): number | undefined {
  const had = told.find((event) => event.what === 'had' && event.ran && event.kept === true) as
    | (Told & { readonly op: number })
    | undefined;
  if (!had) return undefined;
  const done = told.find((event) => event.what === 'done' && event.op === had.op)!;
  return struck === undefined ? done.at : had.at;
}

/** What all have told, by the time of the machine. */
function told(processes: readonly RealProcess[]): MemoEvent[] {
  const all = processes.flatMap((process) => process.told).toSorted((a, b) => a.at - b.at);
  const events = all.flatMap((event): MemoEvent[] => {
    if (event.what === 'held') return [];
    if (event.what === 'late') return [{ at: event.at, what: 'fault', kind: 'begun after the lease' }];
    return [event as MemoEvent];
  });
  const deaths = processes.flatMap(({ crashed, struck, name }): MemoEvent[] =>
    crashed ? [{ at: struck!, what: 'crashed', by: name }] : [],
  );
  return [...events, ...deaths, ...beliefs(all)].toSorted((a, b) => a.at - b.at);
}
