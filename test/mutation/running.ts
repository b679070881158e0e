/** One test at a time or several: with the hooks around it, within a limit, and with what nobody waited for. */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { Verdict } from './messages.ts';
import { type Suite, suitesOf, type Taken } from './suite.ts';

/** What nobody waited for. */
let unheard: unknown[] = [];
process.on('unhandledRejection', (error) => unheard.push(error));
process.on('uncaughtException', (error) => unheard.push(error));

const begun = new Map<Suite, Promise<void>>();
async function begin(inner: Suite): Promise<void> {
  for (const suite of suitesOf(inner)) {
    const beginning = async (): Promise<void> => {
      for (const before of suite.before) await before();
    };
    if (!begun.has(suite)) begun.set(suite, beginning());
    await begun.get(suite);
  }
}
export async function end(): Promise<void> {
  // Some ask whether all tests of their file have run.
  const ends = [...begun.keys()].toReversed().flatMap(({ after }) => after);
  for (const each of ends) await (async () => each())().catch(() => {});
  begun.clear();
}

export type Way = 'passed' | NonNullable<Verdict['how']>;

/** How long a test may units, capacity the machine's time and of its own. */
export interface Limit {
  readonly ms: number;
  readonly cpu: number;
}

export const cpuNow = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Resolves when a test is over time: it has worked too much, or it has had time enough and waits for nothing that comes. */
async function over({ ms, cpu }: Limit, ended: AbortSignal): Promise<Way> {
  const from = cpuNow();
  for (;;) {
    await sleep(ms, undefined, { signal: ended });
    const before = performance.eventLoopUtilization();
    await sleep(20, undefined, { signal: ended });
    const { utilization } = performance.eventLoopUtilization(before);
    // Neither where the machine is busy with other things.
    if (cpuNow() - from > cpu || utilization < 0.2) return 'time';
  }
}

export interface Attempt {
  readonly way: Way;
  readonly failure?: unknown;
}

export async function attempt({ suite, run }: Taken, limit: Limit): Promise<Attempt> {
  // A server of the file has to start first.
  if (!begun.has(suite)) await Promise.race([begin(suite).catch(() => {}), sleep(30_000, undefined, { ref: false })]);
  const ended = new AbortController();
  unheard = [];
  const result = await Promise.race([
    over(limit, ended.signal).then((way) => ({ way })),
    (async (): Promise<Attempt> => {
      try {
        await begin(suite);
        await run();
      } catch (failure) {
        return { way: 'failed', failure };
      }
      await turn();
      return unheard.length > 0 ? { way: 'rejected', failure: unheard[0] } : { way: 'passed' };
    })(),
  ]);
  ended.abort();
  return result;
}
