import { quoted } from '../core/index.ts';
import { type Lines, linesAmong, type WaitsClaim } from './claims.ts';
import { type Arrows, components, cycleFrom } from './cycles.ts';
import { edgesAmong } from './edges.ts';
import { stuckAmong } from './reduction.ts';

/** Claims of which none can go on before another one does. */
export interface Deadlock {
  /** The ids of all of them. */
  readonly claims: readonly string[];
  /** A shortest cycle: each waits for the next, and the last for the first. It begins with a claim that waits. */
  readonly cycle: readonly string[];
  /** The claim that gives up: of those with `detect`, the one that began to wait last. Undefined: none has it. */
  readonly victim?: string;
}

/** How many claims to search from for the shortest cycle. In a larger deadlock a nearly shortest one is enough. */
const STARTS = 32;

/** The deadlocks among these claims. A claim that only waits behind a deadlock is not part of it. */
export function deadlocksIn(lines: Lines, among: ReadonlySet<string> = new Set(lines.claims.keys())): Deadlock[] {
  const stuck = stuckAmong(lines, among);
  if (stuck.size === 0) return [];
  const arrows = arrowsOf(lines, stuck);
  const found = components(stuck, arrows);
  const [whole] = found;
  if (whole?.length === stuck.size) return [deadlock(lines, whole, arrows)];
  // Each component alone: one that goes on after the others is no deadlock, but waits for one.
  const parts = linesAmong(lines, found);
  return found.flatMap((component, i) => deadlocksIn(parts[i]!, new Set(component)));
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

/** All processes get the same order, since it depends only on the claims. */
function lastFirst(a: WaitsClaim, b: WaitsClaim): number {
  return b.origin!.detects! - a.origin!.detects! || (a.id < b.id ? 1 : -1);
}

/** The cycle in words: `host:1 waits for "b", held by host:2, who waits for "a", held by host:1`. Of a long line it names the first. */
export function describeDeadlock({ cycle }: Deadlock, { claims }: Lines): string {
  const parts: string[] = [];
  let ahead: WaitsClaim[] = [];
  const tellAhead = (): void => {
    const [first, ...more] = ahead;
    if (first) parts.push(`behind ${first.label}${more.length > 0 ? ` and ${more.length} more` : ''}`);
    ahead = [];
  };
  let before: WaitsClaim | undefined;
  for (const id of cycle) {
    const claim = claims.get(id)!;
    if (claim.held) {
      tellAhead();
      parts.push(`held by ${claim.label}`);
    } else if (before && !before.held) ahead.push(claim);
    else parts.push(`${before ? 'who' : claim.label} waits for ${quoted(claim.key)}`);
    before = claim;
  }
  tellAhead();
  return parts.join(', ');
}
