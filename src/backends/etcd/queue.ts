import { hash } from 'node:crypto';
import { ALL_UNITS, type Claim, type Demand, isExclusive, LockError } from '../../core/index.ts';
import { REREAD_AFTER_MS, type Refused } from '../shared/queue-verdict.ts';
import type { ServerLease } from './leases.ts';
import type { Client } from './wire/client.ts';
import {
  ahead,
  head,
  type KeyValue,
  list,
  listing,
  look,
  newest,
  type Op,
  type RangeAnswer,
  type TransactionAnswer,
} from './wire/messages.ts';

/** One key in etcd under the prefix of a lock. These keys, in the order of their create revisions, are the queue of the lock. */
export interface ClaimEntry extends Demand {
  readonly name: Buffer;
  /** The create revision. It is the place in the queue and the fencing token. */
  readonly token: bigint;
  readonly lease: bigint;
  readonly label: string;
}

export interface SeenQueue {
  readonly revision: bigint;
  readonly claims: readonly ClaimEntry[];
  /** How many are in the queue: more than `claims` where only its head was read. */
  readonly count: bigint;
}

/** Our values begin with this, and the version of their form. All others are of other programs: `etcdctl lock` stores nothing. */
const FAMILY = 'holdfast/';
const FORM = `${FAMILY}1 `;

/** The prefix of the queue of `key`. Percent-encoding leaves no slash in it, so the queue of `a` never has a claim of `a/b`. */
export const queuePrefix = (prefix: string, key: string): Buffer =>
  Buffer.from(`${prefix}/${encodeURIComponent(key)}/`);

/** The name of a claim's own key. It is a digest: a user that may list the keys must not learn the ids. */
export const claimKey = (queue: Buffer, id: string): Buffer =>
  Buffer.concat([queue, Buffer.from(hash('sha256', id, 'hex').slice(0, 32))]);

export const claimText = ({ units, capacity, label }: Demand & { readonly label: string }): Buffer =>
  Buffer.from(FORM + JSON.stringify({ units, capacity, label }));

const read = (revision: bigint, { kvs, count }: RangeAnswer): SeenQueue => ({
  revision,
  claims: kvs.map(entryOf),
  count,
});

export async function queueNow(client: Client, queue: Buffer, ms?: number, part = listing(queue)): Promise<SeenQueue> {
  const listed = await client.range(part, ms);
  return read(listed.header!.revision, listed);
}

/** The queue as a transaction saw it, from the answer to one of its operations. */
export const readFrom = (answer: TransactionAnswer, index: number): SeenQueue =>
  read(answer.header!.revision, answer.responses[index]!.range!);

/**
 * The key of another program is exclusive, as in etcd's own locks, where the lowest create revision is the owner.
 * @throws LockError `LOCK_UNAVAILABLE` for a value in a form of a newer version of holdfast
 */
export function entryOf({ key, createRevision, value, lease }: KeyValue): ClaimEntry {
  const text = value.toString();
  const stored = { units: ALL_UNITS, capacity: ALL_UNITS, label: '' };
  if (text.startsWith(FORM)) Object.assign(stored, JSON.parse(text.slice(FORM.length)));
  else if (text.startsWith(FAMILY)) {
    throw new LockError(
      'LOCK_UNAVAILABLE',
      'a newer version of holdfast stands in this queue in etcd, in a form this version cannot read; upgrade this one',
      { backend: 'etcd' },
    );
  }
  return { name: key, token: createRevision, lease, ...stored };
}

/** Why a claim was refused when its queue was last listed, and what that queue was. */
interface Blocked extends Refused<Pick<ClaimEntry, 'name'>> {
  /** The first revision that is news. */
  readonly from: bigint;
  /** How many stood in the queue, and the token of the last of them. */
  readonly count: bigint;
  readonly newest: bigint;
  /** When it was listed, by the clock. */
  readonly listed: number;
}

/**
 * `joining`: no answer has told where the claim stands. `waiting`: it was refused, and somebody may watch it. `over`: it was given
 * up, and no later answer changes that.
 */
type ClaimState =
  | { readonly is: 'joining' | 'admitted' | 'over' }
  | { readonly is: 'waiting'; readonly obstacle: Blocked };

/** A claim of this process that stands in a queue, or is about to. */
export interface OwnClaim {
  readonly queue: Buffer;
  readonly name: Buffer;
  state: ClaimState;
  lease: ServerLease;
  /** `moving`: the answer to a move to another lease is missing, so the key may be under that lease. */
  key: 'settled' | 'moving';
  /** Its create revision, once known. */
  token?: bigint;
  /** When the youngest answered attempt was sent. The deadline of a grant counts from then. */
  sent: number;
  /** Before anything was sent of it, by the clock. */
  readonly began: number;
  /** The revision of its key when it was last read, and the time of that. */
  looked?: { readonly revision: bigint; readonly at: number };
  /** The lease of the value that it stores, which nobody keeps alive, while an answer to the release is missing. */
  valueLease?: ServerLease;
}

/** Where it stands in the queue; below 0 when it does not. */
export const indexOf = ({ claims }: SeenQueue, { name, token }: OwnClaim): number =>
  claims.findIndex((place) => place.name.equals(name) && (token === undefined || place.token === token));

/** Whether so much of the queue was read that it decides about this claim: all of it, or the claim and one behind it. */
export const decides = (queue: SeenQueue, me: OwnClaim): boolean =>
  BigInt(queue.claims.length) >= queue.count || indexOf({ ...queue, claims: queue.claims.slice(0, -1) }, me) >= 0;

/** Whether a claim that joins needs no more of a long queue than its predecessor. */
export const joinsBehind = (claim: Claim): boolean => claim.queue && isExclusive(claim);

/**
 * The operations by which a claim joins, and what the last ones tell of the queue. An exclusive claim needs no more than the head and its
 * predecessor, so that a thousand processes that join do not each read a thousand claims.
 */
export const joining = ({ queue, name }: OwnClaim, claim: Claim, join: Op): readonly Op[] =>
  joinsBehind(claim) ? [newest(queue), join, look(name), head(queue)] : [join, list(queue)];

/**
 * The token of an exclusive claim that has joined just now behind others, and its state; undefined where it is the first, or another message of it
 * has come before.
 */
export function behindLast(
  answer: TransactionAnswer,
  first: number,
  now: number,
): Pick<OwnClaim, 'token' | 'state'> | undefined {
  const [before, , own] = answer.responses.slice(first).map(({ range }) => range);
  const [last] = before?.kvs ?? [];
  const { revision: token } = answer.header!;
  if (!last || own?.kvs[0]?.createRevision !== token) return undefined;
  const place = { admitted: false, ahead: Number(before!.count), behind: { name: last.key }, relayed: false } as const;
  const seen = { from: token + 1n, count: before!.count + 1n, newest: token, listed: now };
  return { token, state: { is: 'waiting', obstacle: { ...place, ...seen } } };
}

export const secondsOf = (ttl: number): number => Math.ceil(ttl / 1_000);

/**
 * Whether a refused claim is still refused. It asks for its own key and for the obstacle only, so the answer does not grow with the
 * queue. False also means that this is not certain; the queue must be listed then.
 * @param watched the claim will be told when its obstacle changes
 */
export async function stillRefused(
  client: Client,
  me: OwnClaim,
  watched: boolean,
  now: number,
  ms: number,
): Promise<boolean> {
  const { state, token } = me;
  if (state.is !== 'waiting') return false;
  const { behind, relayed, from, listed, ...before } = state.obstacle;
  const byQueue = relayed && (!watched || now - listed >= REREAD_AFTER_MS);
  const obstacle = behind ? look(behind.name) : ahead(me.queue, token!);
  const looks = [look(me.name), obstacle, ...(byQueue ? [newest(me.queue)] : [])];
  const [own, other, queue] = (await client.txn({ success: looks }, ms)).responses.map(({ range }) => range!);
  if (own!.kvs[0]?.createRevision !== token) return false;
  if (!behind) return other!.kvs.length === before.ahead;
  const [found] = other!.kvs;
  // A newer key of that name stands further back: the watched claim has left. A key that was written has told of its admission.
  if (!found || found.createRevision >= from || (relayed && found.modRevision >= from)) return false;
  return !queue || (queue.count === before.count && queue.kvs[0]?.createRevision === before.newest);
}
