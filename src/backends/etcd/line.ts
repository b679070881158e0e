import { hash } from 'node:crypto';
import { ALL_UNITS, type Units } from '../../core/contract/admission.ts';
import { LockError } from '../../core/contract/errors.ts';
import type { Client } from './wire/client.ts';
import type { KeyValue, RangeResponse, TxnResponse } from './wire/messages.ts';
import { listing } from './wire/ops.ts';
import type { IncomingMessage } from './wire/protobuf.ts';

/** One key in etcd under the prefix of a lock. These keys, in the order of their create revisions, are the line of the lock. */
export interface ClaimEntry extends Units {
  readonly name: Buffer;
  /** The create revision. It is the place in line and the fencing token. */
  readonly token: bigint;
  readonly lease: bigint;
  readonly label: string;
}

export interface Line {
  /** The revision of the store that was read. */
  readonly revision: bigint;
  readonly places: readonly ClaimEntry[];
}

/** Our values begin with this, and the version of their form. All others are of other programs: `etcdctl lock` stores nothing. */
const FAMILY = 'holdfast/';
const FORM = `${FAMILY}1 `;

/** The prefix of the line of `key`. Percent-encoding leaves no slash in it, so the line of `a` never has a place of `a/b`. */
export const linePrefix = (prefix: string, key: string): Buffer => Buffer.from(`${prefix}/${encodeURIComponent(key)}/`);

/** The name of a claim's own key. It is a digest: a user that may list the keys must not learn the ids. */
export const claimKey = (line: Buffer, id: string): Buffer =>
  Buffer.concat([line, Buffer.from(hash('sha256', id, 'hex').slice(0, 32))]);

export const claimText = ({ units, capacity, label }: Units & { readonly label: string }): Buffer =>
  Buffer.from(FORM + JSON.stringify({ units, capacity, label }));

const read = (revision: bigint, { kvs }: IncomingMessage<typeof RangeResponse>): Line => ({
  revision,
  places: kvs.map(entryOf),
});

export async function lineNow(client: Client, line: Buffer, ms?: number): Promise<Line> {
  const listed = await client.range(listing(line), ms);
  return read(listed.header!.revision, listed);
}

/** The line as a transaction saw it, from the answer to one of its operations. */
export const readFrom = (answer: IncomingMessage<typeof TxnResponse>, index: number): Line =>
  read(answer.header!.revision, answer.responses[index]!.range!);

/**
 * The place of another program is exclusive, as in etcd's own locks, where the lowest create revision is the owner.
 * @throws LockError `LOCK_UNAVAILABLE` for a value in a form of a newer version of holdfast
 */
export function entryOf({ key, createRevision, value, lease }: IncomingMessage<typeof KeyValue>): ClaimEntry {
  const text = value.toString();
  const seats = { units: ALL_UNITS, capacity: ALL_UNITS, label: '' };
  if (text.startsWith(FORM)) Object.assign(seats, JSON.parse(text.slice(FORM.length)));
  else if (text.startsWith(FAMILY)) {
    throw new LockError(
      'LOCK_UNAVAILABLE',
      'a newer version of holdfast stands in this line in etcd, in a form this version cannot read; upgrade this one',
      { backend: 'etcd' },
    );
  }
  return { name: key, token: createRevision, lease, ...seats };
}
