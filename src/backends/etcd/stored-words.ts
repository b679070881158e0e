import type { StoredValue } from '../../core/contract/backend.ts';
import { type Contender, secondsOf, type WordsLease } from './contender.ts';
import { type Client, TIME_TO_LIVE } from './wire/client.ts';
import type { KeyValue } from './wire/messages.ts';
import { listing } from './wire/ops.ts';
import type { IncomingMessage } from './wire/protobuf.ts';
import { readLeft, type WordsNames } from './words-names.ts';

export type Stored = IncomingMessage<typeof KeyValue>;

/** What is under the names of a key at one revision of the store. */
export interface Seen {
  readonly revision: bigint;
  readonly left?: Stored;
  readonly attempts?: Stored;
}

export async function lookAt(client: Client, names: WordsNames): Promise<Seen> {
  const { header, kvs } = await client.range(listing(names.both));
  const of = (name: Buffer) => kvs.find(({ key }) => key.equals(name));
  return { revision: header!.revision, left: of(names.left), attempts: of(names.attempts) };
}

/**
 * The words with their age, which is never told as less than it is. Two things tell it: what is left of their lease, in whole
 * seconds; and their revision, if that is later than the one this process saw when it looked last.
 * @param sent the time that the age is of, by the clock
 */
export async function leftIn(
  client: Client,
  { left }: Seen,
  me?: Contender,
  sent = 0,
): Promise<StoredValue | undefined> {
  if (!left) return undefined;
  const { token, term, ageless, text } = readLeft(left.value);
  const { header, ttl, granted } = await client.call(TIME_TO_LIVE, { id: left.lease });
  if (ttl < 0n) return undefined;
  // A new leader gives each lease its whole time again. Then they may be as old as words get.
  const passed = Number(header!.term === term ? granted - ttl : granted) * 1_000;
  const looked = me?.looked ?? (me?.token !== undefined && { revision: me.token, at: me.began });
  const since = looked && left.modRevision > looked.revision ? Math.max(0, sent - looked.at) : passed;
  const age = ageless ? 0 : Math.min(passed, since);
  return { text, token, age, validFor: Math.max(1, Number(ttl) * 1_000) };
}

export async function wordsLease(client: Client, ms: number): Promise<WordsLease> {
  const { term } = client; // as known before: the answer may tell of a leader that was elected since
  const { id } = await client.grant(BigInt(secondsOf(ms)));
  return { id, term };
}

/** If this fails, the lease ends by itself. */
export function endLease(client: Client, lease: bigint): void {
  client.revoke(lease).catch(() => undefined);
}

/** Ends the leases of what was there, which keep nothing any more. @returns whether there was anything */
export function endLeases(client: Client, before: readonly Stored[]): boolean {
  for (const { lease } of before) endLease(client, lease);
  return before.length > 0;
}
