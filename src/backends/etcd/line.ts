import { hash } from 'node:crypto';
import { ALL_SEATS, admitted, isExclusive, type Seats } from '../../core/admission.ts';
import { LockError } from '../../core/errors.ts';
import type { KeyValue, RangeResponse, TxnResponse } from './messages.ts';
import type { Received } from './protobuf.ts';

/** One key under the prefix of a lock. The line of a lock is its keys in the order of their create revisions. */
export interface Place extends Seats {
  readonly name: Buffer;
  /** The create revision: place in line and fencing token in one. */
  readonly ticket: bigint;
  readonly lease: bigint;
  readonly label: string;
}

export interface Line {
  /** As of which revision of the store. */
  readonly revision: bigint;
  readonly places: readonly Place[];
}

/** First word of what we store, with the version of its form. Anything else is a stranger's: `etcdctl lock` stores nothing. */
const FAMILY = 'holdfast/';
const FORM = `${FAMILY}1 `;

/** Where the line of `key` stands. Percent-encoding leaves no slash in it, so the line of `a` never holds one of `a/b`. */
export const lineOf = (prefix: string, key: string): Buffer => Buffer.from(`${prefix}/${encodeURIComponent(key)}/`);

/** The end of a range that holds every key beginning with `start`, which ends in plain ASCII. */
export function endOf(start: Buffer): Buffer {
  const end = Buffer.from(start);
  end[end.length - 1]!++;
  return end;
}

/** The name of a claim's own key: a digest, since whoever may list the keys is not to learn the ids. */
export const nameOf = (line: Buffer, id: string): Buffer =>
  Buffer.concat([line, Buffer.from(hash('sha256', id, 'hex').slice(0, 32))]);

export const written = ({ take, of, label }: Seats & { readonly label: string }): Buffer =>
  Buffer.from(FORM + JSON.stringify({ take, of, label }));

export const read = (revision: bigint, { kvs }: Received<typeof RangeResponse>): Line => ({
  revision,
  places: kvs.map(placeOf),
});

/** The line as of a transaction, from the answer to one of its operations. */
export const readFrom = (answer: Received<typeof TxnResponse>, index: number): Line =>
  read(answer.header!.revision, answer.responses[index]!.range!);

/**
 * Strangers hold in the way of etcd's own locks, where the lowest create revision is the owner: exclusively.
 * @throws LockError `LOCK_UNAVAILABLE`: written by a version of holdfast whose form this one does not know.
 */
export function placeOf({ key, createRevision, value, lease }: Received<typeof KeyValue>): Place {
  const text = value.toString();
  const seats = { take: ALL_SEATS, of: ALL_SEATS, label: '' };
  if (text.startsWith(FORM)) Object.assign(seats, JSON.parse(text.slice(FORM.length)));
  else if (text.startsWith(FAMILY)) {
    throw new LockError(
      'LOCK_UNAVAILABLE',
      'a newer version of holdfast stands in this line in etcd, in a form this version cannot read; upgrade this one',
      { backend: 'etcd' },
    );
  }
  return { name: key, ticket: createRevision, lease, ...seats };
}

export interface Obstacle {
  /** A key, or the whole line. */
  readonly name?: Buffer;
  /** Whether a write of that key is news too, not just its end. */
  readonly puts: boolean;
}

/**
 * What to watch so that nobody is woken in vain: the one thing without whose change the refused claim at `index` cannot
 * be admitted. Of several waiting permits only the first watches the holders, any of whom may make room; whoever stands
 * behind a waiting permit watches that one, which writes its key when it is admitted.
 */
export function obstacle(places: readonly Place[], index: number): Obstacle {
  if (isExclusive(places[index]!)) return { name: places[index - 1]!.name, puts: false };
  const exclusive = places.slice(0, index).findLast(isExclusive);
  if (exclusive) return { name: exclusive.name, puts: false };
  if (index > admitted(places)) return { name: places[index - 1]!.name, puts: true };
  return { puts: false };
}
