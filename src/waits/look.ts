import { collected } from '../core/collected.ts';
import type { LockRuntime } from '../core/runtime.ts';
import type { Listing, Standing } from '../core/traits.ts';
import { idOf, idOfOrigin, type Lines, linesOf } from './claims.ts';
import { type Deadlock, deadlocksIn } from './deadlocks.ts';

/** How many lines to ask for at a time. */
const AT_ONCE = 8;
/** Time between the two looks that confirm a deadlock, ms. */
const BETWEEN = 200;

/** Lists all keys that begin with `prefix`, and adds what this process knows of them. */
export async function lookAtAll(runtime: LockRuntime, prefix: string, listing: Listing): Promise<Lines> {
  const found: Standing[] = [];
  let line: Standing[] = [];
  const keep = (): void => {
    if (line.some(({ held }) => !held) || runtime.isWaitedFor(line[0]?.key ?? '')) found.push(...line);
  };
  for await (const standing of runtime.engine.inspect(prefix, listing)) {
    if (standing.key !== line[0]?.key) {
      keep();
      line = [];
    }
    line.push(standing);
  }
  keep();
  return linesOf(found, runtime.localStandings());
}

/** Asks for the lines of some keys, each by its name. */
export async function standingsOf(runtime: LockRuntime, keys: readonly string[]): Promise<Standing[]> {
  const found: Standing[] = [];
  for (let from = 0; from < keys.length; from += AT_ONCE) {
    const lines = await Promise.all(
      keys.slice(from, from + AT_ONCE).map((key) => collected(runtime.engine.inspect(key, { exact: true }))),
    );
    found.push(...lines.flat());
  }
  return found;
}

/**
 * Keeps the deadlocks that a second look still finds. A listing reads key after key, and is not of one moment. But a claim that
 * holds or waits in both looks did so all the time between them, since it waits once and holds once. So a deadlock in both
 * looks existed at every moment between them.
 */
export async function confirmed(
  runtime: LockRuntime,
  lines: Lines,
  deadlocks: readonly Deadlock[],
): Promise<Deadlock[]> {
  if (deadlocks.length === 0) return [];
  await runtime.engine.activity.pause(BETWEEN);
  const first = new Map(deadlocks.flatMap(({ claims }) => claims).map((id) => [id, lines.claims.get(id)!]));
  const keys = [...new Set([...first.values()].map(({ key }) => key))];
  const again = (await standingsOf(runtime, keys)).filter((standing) => {
    const before = first.get(idOf(standing));
    return before?.held === standing.held && before.key === standing.key;
  });
  const locals = runtime
    .localStandings(keys)
    .map((line) => line.filter(({ origin, queued }) => queued || first.has(idOfOrigin(origin))));
  return deadlocksIn(linesOf(again, locals));
}
