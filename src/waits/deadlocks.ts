import { ArrivalQueue, type Demand, quoted } from '../core/index.ts';
import { type ClaimQueues, enclosingOf, queuesAmong, type WaitsClaim } from './claims.ts';
import { edgesAmong } from './edges.ts';

/** Claims that wait for each other: each can go on only after another one of them. */
export interface Deadlock {
  /** The ids of all these claims. */
  readonly claims: readonly string[];
  /** A shortest cycle of ids: each claim waits for the next, and the last for the first. The first claim is a waiter. */
  readonly cycle: readonly string[];
  /** The id of the claim that gives up: of those with `detect`, the last to begin its wait. Undefined: none has `detect`. */
  readonly victim?: string;
}

/** The most claims from which a search for the shortest cycle starts. In a larger deadlock a nearly shortest cycle is enough. */
const MAX_STARTS = 32;

/** The deadlocks among these claims. A claim that only waits behind a deadlock is not part of it. */
export function deadlocksIn(
  queues: ClaimQueues,
  among: ReadonlySet<string> = new Set(queues.claims.keys()),
): Deadlock[] {
  const stuck = stuckAmong(queues, among);
  if (stuck.size === 0) return [];
  const arrows = arrowsOf(queues, stuck);
  const found = components(stuck, arrows);
  const [whole] = found;
  if (whole?.length === stuck.size) return [deadlock(queues, whole, arrows)];
  // Each component is searched alone: a component that only waits for another one is no deadlock.
  const parts = queuesAmong(queues, found);
  return found.flatMap((component, i) => deadlocksIn(parts[i]!, new Set(component)));
}

function arrowsOf(queues: ClaimQueues, among: ReadonlySet<string>): Arrows {
  const arrows = new Map<string, string[]>();
  for (const { from, to } of edgesAmong(queues, among)) arrows.get(from)?.push(to) ?? arrows.set(from, [to]);
  return arrows;
}

function deadlock({ claims }: ClaimQueues, ids: readonly string[], arrows: Arrows): Deadlock {
  const waiting = ids.map((id) => claims.get(id)!).filter(({ held }) => !held);
  const victim = waiting.filter(detects).sort(lastFirst)[0]?.id;
  const starts = victim === undefined ? waiting.slice(0, MAX_STARTS) : [claims.get(victim)!];
  const cycles = starts.map(({ id }) => cycleFrom(id, arrows));
  const cycle = cycles.reduce((shortest, each) => (each.length < shortest.length ? each : shortest));
  return { claims: [...ids].sort(), cycle, ...(victim !== undefined && { victim }) };
}

const detects = ({ origin }: WaitsClaim): boolean => origin?.detects !== undefined;

/** The order depends only on the claims, so that all processes choose the same victim. */
function lastFirst(a: WaitsClaim, b: WaitsClaim): number {
  return b.origin!.detects! - a.origin!.detects! || (a.id < b.id ? 1 : -1);
}

/** The cycle in words: `host:1 waits for "b", held by host:2, who waits for "a", held by host:1`. Of several waiters in a row it names the first. */
export function describeDeadlock({ cycle }: Deadlock, { claims }: ClaimQueues): string {
  const parts: string[] = [];
  let ahead: WaitsClaim[] = [];
  const addAhead = (): void => {
    const [first, ...more] = ahead;
    if (first) parts.push(`behind ${first.label}${more.length > 0 ? ` and ${more.length} more` : ''}`);
    ahead = [];
  };
  let before: WaitsClaim | undefined;
  for (const id of cycle) {
    const claim = claims.get(id)!;
    if (claim.held) {
      addAhead();
      parts.push(`held by ${claim.label}`);
    } else if (before && !before.held) ahead.push(claim);
    else parts.push(`${before ? 'who' : claim.label} waits for ${quoted(claim.key)}`);
    before = claim;
  }
  addAhead();
  return parts.join(', ');
}

type Arrows = ReadonlyMap<string, readonly string[]>;

/**
 * The strongly connected components that have a cycle (R. E. Tarjan, Depth-First Search and Linear Graph Algorithms, SIAM Journal on Computing 1,
 * 1972). It has no recursion: a queue may be longer than the stack is deep.
 */
function components(nodes: Iterable<string>, arrows: Arrows): string[][] {
  const found: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const path: string[] = [];
  const onPath = new Set<string>();
  for (const root of nodes) {
    if (index.has(root)) continue;
    const calls: { readonly node: string; next: number }[] = [{ node: root, next: 0 }];
    while (calls.length > 0) {
      const call = calls.at(-1)!;
      const { node } = call;
      if (call.next === 0) {
        index.set(node, index.size);
        low.set(node, index.get(node)!);
        path.push(node);
        onPath.add(node);
      }
      const to = arrows.get(node)?.[call.next++];
      if (to !== undefined) {
        if (!index.has(to)) calls.push({ node: to, next: 0 });
        else if (onPath.has(to)) low.set(node, Math.min(low.get(node)!, index.get(to)!));
        continue;
      }
      calls.pop();
      const caller = calls.at(-1)?.node;
      if (caller !== undefined) low.set(caller, Math.min(low.get(caller)!, low.get(node)!));
      if (low.get(node) !== index.get(node)) continue;
      const component = path.splice(path.lastIndexOf(node));
      for (const member of component) onPath.delete(member);
      if (component.length > 1 || arrows.get(node)?.includes(node)) found.push(component);
    }
  }
  return found;
}

/** A shortest path from `start` back to it. */
function cycleFrom(start: string, arrows: Arrows): string[] {
  const cameFrom = new Map<string, string>();
  const next = [start];
  for (const node of next) {
    for (const to of arrows.get(node) ?? []) {
      if (to === start) {
        const cycle: string[] = [];
        for (let at: string | undefined = node; at !== undefined; at = cameFrom.get(at)) cycle.push(at);
        return cycle.reverse();
      }
      if (cameFrom.has(to)) continue;
      cameFrom.set(to, node);
      next.push(to);
    }
  }
  return [];
}

interface QueuedClaim {
  readonly demand: Demand;
  readonly claim: WaitsClaim;
}

/**
 * The claims of `among` that can never go on, even if all other claims are gone. We assume that a hold ends if no claim waits inside it, that the
 * claims admitted then end, too, and so on. The rest is stuck. So a wait for one of several permits is stuck only if no permit can come back (the
 * graph reduction of R. C. Holt, Some Deadlock Properties of Computer Systems, ACM Computing Surveys 4, 1972). The order does not matter: a claim
 * that leaves never delays another claim.
 */
export function stuckAmong({ queues, claims }: ClaimQueues, among: ReadonlySet<string>): Set<string> {
  const lined = queues.map((queue) => arrivalQueue(queue.filter(({ id }) => among.has(id))));
  const memberships = new Map<string, { queue: ArrivalQueue<QueuedClaim>; member: QueuedClaim }[]>();
  /** By the id of a claim. `refused`: in how many queues the claim is not admitted yet. `inside`: how many claims wait inside it. */
  const refused = new Map<string, number>();
  const inside = new Map<string, number>();
  const add = (counts: Map<string, number>, id: string, by: number): number => {
    const count = (counts.get(id) ?? 0) + by;
    counts.set(id, count);
    return count;
  };
  for (const { queue, members } of lined) {
    for (const member of members) {
      const { id, held } = member.claim;
      memberships.get(id)?.push({ queue, member }) ?? memberships.set(id, [{ queue, member }]);
      add(refused, id, held || queue.isInside(member) ? 0 : 1);
    }
  }
  const waits = (claim: WaitsClaim): string[] =>
    enclosingOf(claim).filter((id) => among.has(id) && claims.get(id)!.held);
  for (const id of memberships.keys()) for (const hold of waits(claims.get(id)!)) add(inside, hold, 1);
  const stuck = new Set(memberships.keys());
  const free = [...stuck].filter((id) => refused.get(id) === 0 && !inside.get(id));
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    if (!stuck.delete(id)) continue;
    const ready = (other: string): void => {
      if (!refused.get(other) && !inside.get(other)) free.push(other);
    };
    for (const { queue, member } of memberships.get(id)!) {
      for (const { claim } of queue.leave(member)) {
        if (!claim.held && add(refused, claim.id, -1) === 0) ready(claim.id);
      }
    }
    for (const hold of waits(claims.get(id)!)) if (add(inside, hold, -1) === 0) ready(hold);
  }
  return stuck;
}

function arrivalQueue(claims: readonly WaitsClaim[]): { queue: ArrivalQueue<QueuedClaim>; members: QueuedClaim[] } {
  const queue = new ArrivalQueue<QueuedClaim>();
  const members = claims.map((claim) => ({ demand: claim, claim }));
  for (const member of members) queue.join(member);
  return { queue, members };
}
