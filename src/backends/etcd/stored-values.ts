import type { NewValue, StoredValue } from '../../core/contract/backend.ts';
import { NO_MARK } from '../../core/contract/left.ts';
import { unknownFormat } from '../shared/record.ts';
import { type Contender, secondsOf, type WordsLease } from './queue.ts';
import { type Client, TIME_TO_LIVE } from './wire/client.ts';
import { type KeyValue, listing } from './wire/messages.ts';
import type { IncomingMessage } from './wire/protobuf.ts';

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

/**
 * What is stored of a key beside its line: `left`, the words, and `attempts`, the holds that left none. Each is under a lease of its own,
 * which ends it. No line has this name, as `@` is encoded in keys.
 */
const FOLDER = '@words';

export interface WordsNames {
  /** What both begin with. */
  readonly both: Buffer;
  readonly left: Buffer;
  readonly attempts: Buffer;
}

export function wordsNames(prefix: string, key: string): WordsNames {
  const both = `${prefix}/${FOLDER}/${encodeURIComponent(key)}/`;
  return { both: Buffer.from(both), left: Buffer.from(`${both}left`), attempts: Buffer.from(`${both}attempts`) };
}

/** The begin and the end of all names of words, between those of lines. */
export const wordsRange = (prefix: string): readonly [from: Buffer, to: Buffer] => [
  Buffer.from(`${prefix}/${FOLDER}/`),
  Buffer.from(`${prefix}/${FOLDER}0`),
];

/** The words as they are stored. The text is last, and may hold anything. */
export interface StoredWords {
  /** The token of the hold that left them. */
  readonly token: bigint;
  /** Their lease was granted in this term of a leader, or later. */
  readonly term: bigint;
  readonly ageless: boolean;
  readonly text: string;
}

export interface StoredAttempts {
  readonly attempts: number;
  /** The token of the last of these holds. */
  readonly begun: bigint;
  readonly mark: string;
}

const LEFT = /^1 (\d+) (\d+) (dated|ageless) (.*)$/s;
const TRIES = /^1 (\d+) (\d+) (\S+)$/;

export const writeLeft = (token: bigint, term: bigint, { text, ageless }: NewValue): Buffer =>
  Buffer.from(`1 ${token} ${term} ${ageless ? 'ageless' : 'dated'} ${text}`);

/** @throws LockError `LOCK_INVALID` for a text of another format */
export function readLeft(stored: Buffer): StoredWords {
  const [token, term, how, text] = fieldsOf(LEFT, stored);
  return { token: BigInt(token!), term: BigInt(term!), ageless: how === 'ageless', text: text! };
}

export const writeAttempts = ({ attempts, begun, mark }: StoredAttempts): Buffer =>
  Buffer.from(`1 ${attempts} ${begun} ${mark}`);

/** @throws LockError `LOCK_INVALID` for a text of another format */
export function readAttempts(stored: Buffer | undefined): StoredAttempts {
  if (!stored) return { attempts: 0, begun: 0n, mark: NO_MARK };
  const [attempts, begun, mark] = fieldsOf(TRIES, stored);
  return { attempts: Number(attempts), begun: BigInt(begun!), mark: mark! };
}

function fieldsOf(form: RegExp, stored: Buffer): string[] {
  const match = form.exec(stored.toString());
  if (!match) throw unknownFormat();
  return match.slice(1);
}
