import type { Lines, WaitsClaim } from './claims.ts';
import { type Arrows, components, cycleFrom } from './cycles.ts';
import { edgesAmong } from './edges.ts';
import { stuckAmong } from './reduction.ts';

/** Claims of which none can go on before another one of them has. */
export interface Deadlock {
  /** All of them, by their ids. */
  readonly claims: readonly string[];
  /** A shortest way round: each waits for the next, the last for the first. It begins with a claim that waits. */
  readonly cycle: readonly string[];
  /** The one that gives up: of those that asked for it (`detect`), the one that began to wait last. Undefined: none asked. */
  readonly victim?: string;
}

/** From so many claims the shortest way round is looked for; of a deadlock with more, nearly the shortest will do. */
const STARTS = 32;

/** Those in it that stand still by themselves. Whoever only stands behind them is not part of one. */
export function deadlocksIn(lines: Lines, among: ReadonlySet<string> = new Set(lines.claims.keys())): Deadlock[] {
  const stuck = stuckAmong(lines, among);
  if (stuck.size === 0) return [];
  const arrows = arrowsOf(lines, stuck);
  const found = components(stuck, arrows);
  const [whole] = found;
  if (whole?.length === stuck.size) return [deadlock(lines, whole, arrows)];
  // Each by itself: one that would go on if others did is no deadlock, but waits for one.
  return found.flatMap((component) => deadlocksIn(lines, new Set(component)));
}

function arrowsOf(lines: Lines, among: ReadonlySet<string>): Arrows {
  const arrows = new Map<string, string[]>();
  for (const { from, to } of edgesAmong(lines, among)) arrows.get(from)?.push(to) ?? arrows.set(from, [to]);
  return arrows;
}

function deadlock({ claims }: Lines, ids: readonly string[], arrows: Arrows): Deadlock {
  const waiting = ids.map((id) => claims.get(id)!).filter(({ held }) => !held);
  const victim = waiting.filter(detects).sort(lastFirst)[0]?.id;
  const starts = victim === undefined ? waiting.slice(0, STARTS) : [claims.get(victim)!];
  const cycles = starts.map(({ id }) => cycleFrom(id, arrows));
  const cycle = cycles.reduce((shortest, each) => (each.length < shortest.length ? each : shortest));
  return { claims: [...ids].sort(), cycle, ...(victim !== undefined && { victim }) };
}

const detects = ({ origin }: WaitsClaim): boolean => origin?.detects !== undefined;

/** The same for all who look: by what the claims themselves say. */
function lastFirst(a: WaitsClaim, b: WaitsClaim): number {
  return b.origin!.detects! - a.origin!.detects! || (a.id < b.id ? 1 : -1);
}
