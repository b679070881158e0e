import { hash } from 'node:crypto';
import { ALL_UNITS, type Claim, type Demand, isExclusive, LockError } from '../../core/index.ts';
import { REREAD_AFTER_MS, type Refused } from '../shared/queue-verdict.ts';
import type { ServerLease } from './leases.ts';
import type { Client } from './wire/client.ts';
import {
  ahead,
  type Condition,
  type EtcdTransaction,
  get,
  head,
  isMissing,
  type KeyValue,
  list,
  listing,
  look,
  newest,
  type Op,
  type RangeAnswer,
  stand,
  type TransactionAnswer,
} from './wire/messages.ts';

/** A claim: one key of etcd. The keys with the prefix of a lock are its queue, in the order of their create revisions. */
export interface ClaimEntry extends Demand {
  readonly name: Buffer;
  /** The create revision. It gives the place in the queue, and is the fencing token. */
  readonly token: bigint;
  readonly lease: bigint;
  readonly label: string;
}

export interface SeenQueue {
  readonly revision: bigint;
  readonly claims: readonly ClaimEntry[];
  /** The number of claims in the queue: more than in `claims` if only the head was read. */
  readonly count: bigint;
}

/** The text of our claims begins with this and the version of its form. A claim of another program has other text, or none (`etcdctl lock`). */
const FAMILY = 'holdfast/';
const FORM = `${FAMILY}1 `;

/** The prefix of the queue of `key`. Percent-encoding leaves no slash in it, so the queue of `a` never has a claim of `a/b`. */
export const queuePrefix = (prefix: string, key: string): Buffer =>
  Buffer.from(`${prefix}/${encodeURIComponent(key)}/`);

/** The name of a claim's own key: a digest, so that a user who may list the keys does not learn the ids. */
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
    const message =
      'a newer version of holdfast stands in this queue in etcd, in a form this version cannot read; upgrade this one';
    throw new LockError('LOCK_UNAVAILABLE', message, { backend: 'etcd' });
  }
  return { name: key, token: createRevision, lease, ...stored };
}

/** Why a claim was refused when its queue was last listed, and how long that queue was. */
interface Blocked extends Refused<Pick<ClaimEntry, 'name'>> {
  /** The first revision after that listing. */
  readonly from: bigint;
  /** The number of claims in the queue, and the token of the last one. */
  readonly count: bigint;
  readonly newest: bigint;
  /** The time of that listing, by the clock. */
  readonly listed: number;
}

/** `joining`: the claim's place is not known yet. `waiting`: the claim was refused. `over`: the claim was given up, for good. */
type ClaimState =
  | { readonly is: 'joining' | 'admitted' | 'over' }
  | { readonly is: 'waiting'; readonly obstacle: Blocked };

/** A claim of this process that is in a queue, or about to join it. */
export interface OwnClaim {
  readonly queue: Buffer;
  readonly name: Buffer;
  state: ClaimState;
  lease: ServerLease;
  /** `moving`: a move to another lease was not answered, so the key may be under that lease. */
  key: 'settled' | 'moving';
  /** The create revision of the key, once known. */
  token?: bigint;
  /** When the last answered attempt was sent. The deadline of a grant counts from then. */
  sent: number;
  /** A time before the first message of the claim was sent, by the clock. */
  readonly began: number;
  /** When this claim last looked for a value: the revision of the store, and the time by the clock. */
  looked?: { readonly revision: bigint; readonly at: number };
  /** The lease of the value that the claim leaves, until its release is answered. Nobody keeps that lease alive. */
  valueLease?: ServerLease;
}

/** The place of the claim in the queue, from 0; -1 if the claim is not in the queue. */
export const indexOf = ({ claims }: SeenQueue, { name, token }: OwnClaim): number =>
  claims.findIndex((place) => place.name.equals(name) && (token === undefined || place.token === token));

/** Whether enough of the queue was read to decide about this claim: all of it, or the claim and the next one. */
export const decides = (queue: SeenQueue, me: OwnClaim): boolean =>
  BigInt(queue.claims.length) >= queue.count || indexOf({ ...queue, claims: queue.claims.slice(0, -1) }, me) >= 0;

/** Whether a claim that joins has to know only its predecessor in a long queue. */
export const joinsBehind = (claim: Claim): boolean => claim.queue && isExclusive(claim);

/**
 * The transaction by which a claim joins and reads the queue. A key that is there stays as it is: an earlier message, if it comes late, must not put
 * the key back under a lease that the key has left. An exclusive claim reads only the head of the queue and its own predecessor: else, if a
 * thousand processes joined, each would read a thousand claims.
 * @param compare what must hold, too, or the claim does not join
 */
export function joining(
  { queue, name }: OwnClaim,
  claim: Claim,
  lease: bigint,
  compare: readonly Condition[],
): EtcdTransaction {
  const around = (own: Op): readonly Op[] =>
    joinsBehind(claim) ? [newest(queue), own, head(queue)] : [own, list(queue)];
  const success = around(stand(name, claimText(claim), lease));
  return { compare: [isMissing(name), ...compare], success, failure: around(get(name)) };
}

/**
 * @returns the token and the state of an exclusive claim that has just joined behind others; undefined if the claim is the first one, or
 *   if an earlier message had made its key
 */
export function behindLast(answer: TransactionAnswer, now: number): Pick<OwnClaim, 'token' | 'state'> | undefined {
  const before = answer.responses[0]!.range!;
  const [last] = before.kvs;
  const { revision: token } = answer.header!;
  if (!last || !answer.succeeded) return undefined;
  const place = { admitted: false, ahead: Number(before.count), behind: { name: last.key }, relayed: false } as const;
  const seen = { from: token + 1n, count: before.count + 1n, newest: token, listed: now };
  return { token, state: { is: 'waiting', obstacle: { ...place, ...seen } } };
}

export const secondsOf = (ttl: number): number => Math.ceil(ttl / 1_000);

/** Whether a refused claim is surely still refused, by its own key and its obstacle's, however long the queue. If false, the queue must be listed. */
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
  // The watched claim has left if its key is gone, or was created again. A permit whose key was written again was admitted.
  if (!found || found.createRevision >= from || (relayed && found.modRevision >= from)) return false;
  return !queue || (queue.count === before.count && queue.kvs[0]?.createRevision === before.newest);
}
