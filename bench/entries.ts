/** The ways to measure a contestant: each starts its processes, puts them under load, and says what came out. */
import { randomUUID } from 'node:crypto';
import { startWorker, type WorkerProcess } from '../test/kit/processes.ts';
import { coresApart, serverTime } from './cores.ts';
import type { Cycles, CyclesPlan } from './loads/cycles.ts';
import { handOvers, machineTime } from './loads/relay.ts';
import type { Arena, Entry, Group } from './row.ts';
import { median } from './verdict.ts';
import type { BenchWorker } from './worker.ts';

const WORKER = new URL('worker.ts', import.meta.url);
/** Under load before it is measured: a service lives long, and a compiler needs its time. ms. */
const WARM_UP = 3_000;

/** So much room for new objects that nothing is collected while garbage is counted. MB. */
const ROOM = 512;

type Workers = readonly WorkerProcess<BenchWorker>[];

interface Who {
  readonly group: Group;
  readonly contestant: string;
  readonly name?: string;
  readonly processes?: number;
  readonly far?: boolean;
}

const ONE_CALLER: CyclesPlan = { callers: 1, own: true, keys: 1, work: 0, ms: 800, every: 1 };
const OPTIONS = { execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'] };

/** Its processes, opened, each with a unit. */
function opened(stack: AsyncDisposableStack, who: Who, arena: Arena, options = OPTIONS): Promise<Workers> {
  const { group, contestant, processes = 1, far = false } = who;
  const run = randomUUID();
  const place = far && arena.far ? arena.far : arena.place;
  const seats = Array.from({ length: processes }, (_, seat) => seat);
  return Promise.all(
    seats.map(async (seat) => {
      const worker = stack.use(await startWorker<BenchWorker>(WORKER, options));
      await worker.call('open', group, contestant, { ...place, seat, run });
      return worker;
    }),
  );
}

function entry(
  who: Who,
  measure: (workers: Workers, arena: Arena, patience: number) => Promise<Record<string, number>>,
  options = OPTIONS,
): Entry {
  return {
    name: who.name ?? who.contestant,
    async measure(arena, patience) {
      await using stack = new AsyncDisposableStack();
      return await measure(await opened(stack, who, arena, options), arena, patience);
    },
  };
}

/** Callers in a loop: `perSecond`, `handOvers` a second, `cpu` of the clients a section, µs, `commands` a section, `p99` of a cycle, `longest` wait, and `least`: the part of an equal share that the caller served least got. */
export const cycling = (who: Who, plan: Partial<CyclesPlan> = {}): Entry =>
  entry(who, async (workers, arena, patience) => {
    const full = { ...ONE_CALLER, ...plan };
    const ms = full.ms * patience;
    await Promise.all(workers.map((worker) => worker.call('cycles', { ...full, ms: WARM_UP * patience })));
    await Promise.all(workers.map((worker) => worker.call('drained')));
    await arena.commands?.(who.contestant);
    const runs = await Promise.all(workers.map((worker) => worker.call('cycles', { ...full, ms })));
    const total = (of: (run: Cycles) => number): number => runs.reduce((sum, run) => sum + of(run), 0);
    const commands = (await arena.commands?.(who.contestant)) ?? total(({ statements = Number.NaN }) => statements);
    const sections = total((run) => run.sections);
    return {
      perSecond: total(({ sections, ms }) => (sections / ms) * 1_000),
      ...(full.own ? {} : { handOvers: total(({ handOvers, ms }) => (handOvers / ms) * 1_000) }),
      cpu: total(({ cpu }) => cpu) / sections,
      least: Math.min(...runs.map(({ least }) => least)) / (sections / runs.length / full.callers),
      ...(Number.isNaN(commands) ? {} : { commands: commands / sections }),
      p99: Math.max(...runs.map(({ p99 }) => p99)),
      ...(runs.some(({ longest }) => longest > 0) ? { longest: Math.max(...runs.map(({ longest }) => longest)) } : {}),
    };
  });

/**
 * As `cycling`, alone on the machine, with the clients on one core and the servers on another: also `servers`, their processor time a section,
 * µs, `p99` of a section, ms, and `garbage` of a section, bytes, which a process of its own counts.
 */
export const alone = (who: Who, plan: Partial<CyclesPlan> = {}): Entry => ({
  name: who.name ?? who.contestant,
  async measure(arena, patience) {
    const full = { ...ONE_CALLER, ms: 3_000, ...plan };
    const timed = await entry(who, async (workers) => {
      using _apart = coresApart(
        arena.servers ?? [],
        workers.map(({ pid }) => pid),
      );
      const [worker] = workers as [Workers[number]];
      await worker.call('cycles', { ...full, ms: WARM_UP * patience });
      await worker.call('drained');
      const before = serverTime(arena.servers ?? []);
      const { sections, ms, cpu, p99 } = await worker.call('cycles', { ...full, ms: full.ms * patience });
      const servers = (serverTime(arena.servers ?? []) - before) / sections;
      return { perSecond: (sections / ms) * 1_000, cpu: cpu / sections, ...(arena.servers && { servers }), p99 };
    }).measure(arena, patience);
    const roomy = {
      ...OPTIONS,
      execArgv: [...OPTIONS.execArgv, `--min-semi-space-size=${ROOM}`, `--max-semi-space-size=${ROOM}`],
    };
    const counted = await entry(
      who,
      async ([worker]) => ({ garbage: await worker!.call('garbage', full) }),
      roomy,
    ).measure(arena, patience);
    return { ...timed, ...counted };
  },
});

/** Many connections that fight for a few keys: `perSecond`, and the `deadlocks` that the server counted. */
export const fighting = (who: Who, plan: Pick<CyclesPlan, 'callers' | 'keys' | 'ms'>): Entry => ({
  name: who.contestant,
  async measure(arena, patience) {
    const before = await arena.deadlocks!();
    const fought = await entry(who, async ([worker]) => {
      const { sections, ms } = await worker!.call('cycles', {
        ...ONE_CALLER,
        ...plan,
        own: false,
        ms: plan.ms * patience,
      });
      return { perSecond: (sections / ms) * 1_000 };
    }).measure(arena, patience);
    return { ...fought, deadlocks: (await arena.deadlocks!()) - before };
  },
});

/** Legs without a rest before it is measured, as `WARM_UP`. */
const WARM_LEGS = 1_500;

/**
 * Two processes that pass a key to and fro: `handOver`, p50 from the release to the next holder, ms.
 * @param restless goes back to the line in the moment it has released, which takes the cores from whoever is woken
 */
export const relaying = (who: Who, { legs = 200, rest = 3, warm = WARM_LEGS, restless = false } = {}): Entry =>
  entry({ ...who, processes: 2 }, async (workers, _, patience) => {
    const relay = (turns: number, hold: number, pause: number) =>
      Promise.all(workers.map((worker) => worker.call('relay', Math.max(10, turns * patience), hold, pause)));
    await relay(warm, 0, 0);
    return { handOver: median(handOvers(await relay(legs, rest, restless ? 0 : rest / 3))) };
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
