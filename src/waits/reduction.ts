import { ArrivalLine, type Units } from '../core/index.ts';
import { enclosingOf, type Queues, type WaitsClaim } from './claims.ts';

/** A claim in one of its queues. */
interface QueuedClaim {
  readonly seats: Units;
  readonly claim: WaitsClaim;
}

/**
 * The claims among these that can never go on, if all others are gone. A claim that holds, and does not wait inside, is taken
 * to end and to leave. Then the claims that this admits do the same, and so on. The rest is stuck. So a wait for one of several
 * permits is stuck only if none of them can come back (the graph reduction of R. C. Holt, Some Deadlock Properties of Computer
 * Systems, ACM Computing Surveys 4, 1972). The order does not matter: a claim that leaves never delays another one.
 */
export function stuckAmong({ queues, claims }: Queues, among: ReadonlySet<string>): Set<string> {
  const lined = queues.map((queue) => arrivalQueue(queue.filter(({ id }) => among.has(id))));
  const memberships = new Map<string, { queue: ArrivalLine<QueuedClaim>; member: QueuedClaim }[]>();
  /** For each claim, in how many queues it is not admitted yet, and how many claims wait inside it. */
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

function arrivalQueue(claims: readonly WaitsClaim[]): { queue: ArrivalLine<QueuedClaim>; members: QueuedClaim[] } {
  const queue = new ArrivalLine<QueuedClaim>();
  const members = claims.map((claim) => ({ seats: claim, claim }));
  for (const member of members) queue.join(member);
  return { queue, members };
}
