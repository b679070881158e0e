import { type Listing, type LockRuntime, listOf, MAX_PLACE_TTL_MS, type QueueEntry } from '../core/index.ts';
import { type Lines, linesAmong, linesOf } from './claims.ts';
import type { Deadlock } from './deadlocks.ts';
import { BETWEEN, Suspects } from './suspects.ts';

/** How many lines to ask for at a time. */
const AT_ONCE = 8;

/** Lists all keys that begin with `prefix`, and adds what this process knows of them. */
export async function lookAtAll(runtime: LockRuntime, prefix: string, listing: Listing): Promise<Lines> {
  const found: QueueEntry[][] = [];
  let line: QueueEntry[] = [];
  const keep = (): void => {
    if (line.some(({ held }) => !held) || runtime.isWaitedFor(line[0]?.key ?? '')) found.push(line);
  };
  for await (const standing of runtime.engine.inspect(prefix, listing)) {
    if (standing.key !== line[0]?.key) {
      keep();
      line = [];
    }
    line.push(standing);
  }
  keep();
  return linesOf(found.flat(), runtime.localEntries());
}

/** Asks for the lines of some keys, each by its name. */
export async function standingsOf(runtime: LockRuntime, keys: readonly string[]): Promise<QueueEntry[]> {
  const found: QueueEntry[][] = [];
  for (let from = 0; from < keys.length; from += AT_ONCE) {
    const lines = await Promise.all(
      keys.slice(from, from + AT_ONCE).map((key) => listOf(runtime.engine.inspect(key, { exact: true }))),
    );
    found.push(lines.flat());
  }
  return found.flat();
}

/** The longest time in which a process gives a sign of life: a waiter does so three times in the longest life of its place. ms. */
const LONGEST = MAX_PLACE_TTL_MS / 3 + 2 * BETWEEN;

/** Looks at some deadlocks again until each is confirmed, or over. */
export async function confirm(
  runtime: LockRuntime,
  lines: Lines,
  deadlocks: readonly Deadlock[],
): Promise<readonly Deadlock[]> {
  if (deadlocks.length === 0) return [];
  const { clock, activity } = runtime.engine;
  const suspects = new Suspects();
  const first = new Set(deadlocks.flatMap(({ claims }) => claims));
  let keys = [...new Set([...first].map((id) => lines.claims.get(id)!.key))];
  for (const until = clock.now() + LONGEST; ; keys = suspects.keys) {
    const began = clock.now();
    const all = linesOf(await standingsOf(runtime, keys), runtime.localEntries(keys));
    const moment = { began, ended: clock.now() };
    // Only these are told with their claims.
    const found = suspects.look(linesAmong(all, [first])[0]!, () => moment, runtime.name.word);
    if (!suspects.open || clock.now() >= until || activity.over) return found;
    await activity.pause(BETWEEN);
  }
}
