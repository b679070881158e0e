/**
 * What a run of torture did on a server, as a log in the order of the server, and the pure queue that goes through it once more. A log that the
 * rule of admission would not have written is refused.
 */

import type { Event } from '../../products/torture/events.ts';
import { byKey, History, type OperationWithHold } from '../../products/torture/history.ts';
import { EngineQueue } from '../../src/backends/shared/queue.ts';
import { EngineTime, TokenCounter } from '../../src/backends/shared/stored-queue.ts';
import type { Demand } from '../../src/core/contract/admission.ts';

/** A line of the log. `at` and `until` are ms since the start of the run; `until` is the end of the lease as of this line. */
export type Line = { readonly at: number; readonly key: string; readonly claim: string } & (
  | ({ readonly did: 'granted'; readonly token: bigint; readonly until: number } & Demand)
  | { readonly did: 'renewed'; readonly until: number }
  | { readonly did: 'released' }
  | { readonly did: 'expired' }
);

/** What a process saw of a lease: each time it looked, and how long it would last then. And when it gave it back. */
interface Sight {
  readonly looks: { readonly at: number; readonly until: number }[];
  left?: number;
}
type Sights = ReadonlyMap<string, Sight>;

/** A renewal is told from rounding by this much, ms. */
const LONGER_MS = 50;
/** A renewal that was seen late was done before the lease was over, by this much at least, ms. */
const IN_TIME_MS = 0.001;
/** Of two lines at one moment the one that ends something comes first, and a renewal after its grant. */
const RANK = { expired: 0, released: 1, granted: 2, renewed: 3 } as const;

/**
 * The log of a run. The server gave the tokens of a key in the order of its grants, so the log has them in this order; each line is at a moment
 * at which the server may have done it: a grant as late, and an end as early as the processes let it be.
 */
export function logOf(events: readonly Event[]): Line[] {
  const history = new History();
  const sights = new Map<string, Sight>();
  for (const event of events.toSorted((a, b) => a.at - b.at)) {
    history.apply(event);
    if (event.what === 'asked') sights.set(event.op, { looks: [] });
    // A process that is killed goes on for a moment, and may give something back in it.
    else if (event.what === 'left') sights.get(event.op)!.left = event.at;
    else if (event.what === 'held' && event.remaining !== null)
      sights.get(event.op)!.looks.push({ at: event.at, until: event.at + event.remaining });
  }
  return [...byKey(history.operations.values()).values()]
    .flatMap((operations) => linesOf(operations.filter((each) => each.hold?.token !== undefined) as never, sights))
    .toSorted((a, b) => a.at - b.at || RANK[a.did] - RANK[b.did]);
}

function linesOf(operations: readonly OperationWithHold[], sights: Sights): Line[] {
  // Readers of one process share a claim, and its token.
  const claims = [...Map.groupBy(operations, ({ hold }) => hold.token!).values()];
  claims.sort(([one], [other]) => (one!.hold.token! < other!.hold.token! ? -1 : 1));
  const lines: Line[] = [];
  let latest = Number.POSITIVE_INFINITY;
  for (const claim of claims.toReversed()) {
    const { key, op, units, capacity, hold } = claim[0]!;
    let until = Math.max(...claim.map((each) => firstEnd(each, sights)));
    const released = Math.max(...claim.map((each) => releasedAt(each, sights)));
    // A process may have looked late at what it was granted: that was before the next grant, and before the lease was over or given back.
    latest = Math.min(latest, until - IN_TIME_MS, released - IN_TIME_MS, ...claim.map((each) => each.hold.from));
    const name = { key, claim: op };
    const token = hold.token!;
    lines.push({ ...name, at: latest, did: 'granted', token, until, units, capacity });
    const seen = claim.flatMap(({ op }) => sights.get(op)!.looks).toSorted((a, b) => a.at - b.at);
    for (const look of seen) {
      if (look.until < until + LONGER_MS) continue;
      lines.push({
        ...name,
        at: Math.max(latest, Math.min(look.at, until - IN_TIME_MS)),
        did: 'renewed',
        until: look.until,
      });
      until = look.until;
    }
    const gone = released < until;
    lines.push(
      gone ? { ...name, at: Math.max(released, latest), did: 'released' } : { ...name, at: until, did: 'expired' },
    );
  }
  return lines;
}

/** What its process knew of the end of the lease when it came in. */
const firstEnd = ({ op, hold }: OperationWithHold, sights: Sights): number =>
  Math.min(hold.promised, sights.get(op)!.looks[0]?.until ?? hold.promised);

/** Since when the server may have been told that the hold is over; Infinity if nobody told it. */
const releasedAt = ({ op, hold }: OperationWithHold, sights: Sights): number =>
  hold.freed === undefined ? (sights.get(op)!.left ?? Number.POSITIVE_INFINITY) : hold.until;

/** Why the rule of admission would not have written this log; undefined if it would have. Pure. */
export function objection(log: readonly Line[]): string | undefined {
  const queues = new Map<string, Replay>();
  for (const [number, line] of log.entries()) {
    if (number > 0 && line.at < log[number - 1]!.at) return `line ${number + 1} is before the one above it`;
    const queue = queues.get(line.key) ?? new Replay();
    queues.set(line.key, queue);
    const wrong = queue.step(line);
    if (wrong) return `line ${number + 1}, ${line.claim} ${line.did}: ${wrong}`;
  }
  for (const queue of queues.values()) if (queue.claims.size > 0) return 'a claim has no end';
  return undefined;
}

/** The pure queue of one key, at the times of the log. */
class Replay {
  readonly #queue = new EngineQueue(new TokenCounter(0n));
  /** The claims that hold, and the ends of their leases. */
  readonly claims = new Map<string, number>();

  step(line: Line): string | undefined {
    const { at, claim: id } = line;
    const { claims } = this;
    const queue = this.#queue.at(new EngineTime(at));
    for (const [other, until] of claims) if (until < at) return `nobody wrote that ${other} had expired`;
    if (line.did === 'granted') {
      const { units, capacity, token, until } = line;
      const ttl = until - at;
      const asked = {
        key: line.key,
        id,
        units,
        capacity,
        ttl,
        label: id,
        queue: false,
        tokenCount: 1,
        minToken: token,
      };
      if (claims.has(id)) return 'it has the lock already';
      if (ttl <= 0) return 'its lease was over';
      const answer = queue.attempt(asked as never);
      if (!answer.granted) return `beside ${[...claims.keys()].join(', ')} the rule admits it not`;
      if (answer.token !== token) return `the next token is ${answer.token}, and not ${token}`;
      claims.set(id, until);
      return undefined;
    }
    const there = queue.find(id) !== undefined;
    if (line.did === 'expired') {
      if (!claims.delete(id)) return 'it did not hold';
      return there ? 'its lease was not over' : undefined;
    }
    if (!claims.has(id) || !there) return 'it did not hold';
    if (line.did === 'renewed') {
      if (line.until <= claims.get(id)!) return 'that is no longer than it was';
      claims.set(id, line.until);
      queue.renew({ id, ttl: line.until - at });
      return undefined;
    }
    claims.delete(id);
    queue.release({ id });
    return undefined;
  }
}
