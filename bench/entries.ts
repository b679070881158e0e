/** The ways to measure a contestant: each starts its processes, puts them under load, and says what came out. */
import { randomUUID } from 'node:crypto';
import { startWorker, type WorkerProcess } from '../test/kit/processes.ts';
import type { Cycles, CyclesPlan } from './loads/cycles.ts';
import { handOvers, machineTime } from './loads/relay.ts';
import type { Arena, Entry, Group } from './row.ts';
import { median } from './verdict.ts';
import type { BenchWorker } from './worker.ts';

const WORKER = new URL('worker.ts', import.meta.url);
/** Under load before it is measured: a service lives long, and a compiler needs its time. ms. */
const WARM_UP = 3_000;

type Workers = readonly WorkerProcess<BenchWorker>[];

interface Who {
  readonly group: Group;
  readonly contestant: string;
  readonly name?: string;
  readonly processes?: number;
  readonly far?: boolean;
}

function entry(
  who: Who,
  measure: (workers: Workers, arena: Arena, patience: number) => Promise<Record<string, number>>,
): Entry {
  const { group, contestant, name = contestant, processes = 1, far = false } = who;
  return {
    name,
    async measure(arena, patience) {
      await using stack = new AsyncDisposableStack();
      const run = randomUUID();
      const place = far && arena.far ? arena.far : arena.place;
      const seats = Array.from({ length: processes }, (_, seat) => seat);
      const options = { execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'] };
      const workers = await Promise.all(
        seats.map(async (seat) => {
          const worker = stack.use(await startWorker<BenchWorker>(WORKER, options));
          await worker.call('open', group, contestant, { ...place, seat, run });
          return worker;
        }),
      );
      return await measure(workers, arena, patience);
    },
  };
}

/** Callers in a loop: `perSecond`, `handOvers` a second, `cpu` of the clients a section, µs, `commands` a section, `longest` wait, and `least`: the part of an equal share that the caller served least got. */
export const cycling = (who: Who, plan: Partial<CyclesPlan> = {}): Entry =>
  entry(who, async (workers, arena, patience) => {
    const full = { callers: 1, own: true, work: 0, ms: 800, every: 1, ...plan };
    const ms = full.ms * patience;
    await Promise.all(workers.map((worker) => worker.call('cycles', { ...full, ms: WARM_UP * patience })));
    await Promise.all(workers.map((worker) => worker.call('drained')));
    await arena.commands?.(who.contestant);
    const runs = await Promise.all(workers.map((worker) => worker.call('cycles', { ...full, ms })));
    const commands = await arena.commands?.(who.contestant);
    const total = (of: (run: Cycles) => number): number => runs.reduce((sum, run) => sum + of(run), 0);
    const sections = total((run) => run.sections);
    return {
      perSecond: total(({ sections, ms }) => (sections / ms) * 1_000),
      ...(full.own ? {} : { handOvers: total(({ handOvers, ms }) => (handOvers / ms) * 1_000) }),
      cpu: total(({ cpu }) => cpu) / sections,
      least: Math.min(...runs.map(({ least }) => least)) / (sections / runs.length / full.callers),
      ...(commands === undefined ? {} : { commands: commands / sections }),
      ...(full.work > 0 ? { longest: Math.max(...runs.map(({ longest }) => longest)) } : {}),
    };
  });

/** Legs without a rest before it is measured, as `WARM_UP`. */
const WARM_LEGS = 1_500;

/** Two processes that pass a key to and fro: `handOver`, p50 from the release to the next holder, ms. */
export const relaying = (who: Who, legs = 200, rest = 3): Entry =>
  entry({ ...who, processes: 2 }, async (workers, _, patience) => {
    const relay = (turns: number, pause: number) =>
      Promise.all(workers.map((worker) => worker.call('relay', Math.max(10, turns * patience), pause)));
    await relay(WARM_LEGS, 0);
    return { handOver: median(handOvers(await relay(legs, rest))) };
  });

/** Many holds at once, kept by renewal, for twice `ms`: `commands` a second, `cpu`, `late`, `lost`. */
export const holding = (who: Who, count: number, ms: number): Entry =>
  entry(who, async ([worker], arena) => {
    await worker!.call('takeMany', count);
    await arena.commands?.(who.contestant);
    const kept = worker!.call('keepMany', ms);
    await new Promise((resolve) => setTimeout(resolve, ms));
    const commands = ((await arena.commands?.(who.contestant)) ?? 0) / (ms / 1_000);
    return { commands, ...(await kept) };
  });

/** `bytes` of heap for each caller that waits. */
export const waiting = (who: Who, count: number): Entry =>
  entry(who, async ([worker]) => ({ bytes: await worker!.call('waiters', count) }));

/** kill −9 of the holder: `replaced`, ms until the next has it. */
export const killing = (who: Who): Entry =>
  entry({ ...who, processes: 2 }, async ([holder, next]) => {
    await holder!.call('take', 'killed');
    const taken = next!.call('take', 'killed');
    await new Promise((resolve) => setTimeout(resolve, 100)); // it stands in line and rests
    const killed = machineTime();
    await holder!.kill();
    return { replaced: (await taken) - killed };
  });
