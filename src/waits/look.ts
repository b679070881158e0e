import { collected } from '../core/collected.ts';
import type { LockRuntime } from '../core/runtime.ts';
import type { Listing, Standing } from '../core/traits.ts';
import { idOf, idOfOrigin, type Lines, linesOf } from './claims.ts';
import { type Deadlock, deadlocksIn } from './deadlocks.ts';

/** Lines that are asked for at a time. */
const AT_ONCE = 8;
/** ms between the two looks that a deadlock needs. */
const BETWEEN = 200;

/** What is listed for all keys that begin with `prefix`, and what this process knows of them. */
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

/** The lines of some keys, each asked for by its name. */
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
 * Those that are still there at a second look. A listing is not of one moment, key after key; but whoever holds or waits in both looks did so
 * all the time between them: a claim waits once, and holds once. So what is a deadlock in both was one at any moment in between.
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
