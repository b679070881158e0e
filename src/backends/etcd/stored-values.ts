import { type NewValue, NO_MARK, type StoredValue } from '../../core/index.ts';
import { unknownFormat } from '../shared/record.ts';
import type { OwnClaim } from './queue.ts';
import type { Client, Span } from './wire/client.ts';
import { endOf, type KeyValue, listing, TIME_TO_LIVE } from './wire/messages.ts';

/**
 * What is stored of a key beside its queue: `value`, and `attempts`, the holds that stored none. Each is under a lease of its own,
 * which ends it. No queue has this name, as `@` is encoded in keys.
 */
const FOLDER = '@values';

interface Names {
  /** What both begin with. */
  readonly both: Buffer;
  readonly value: Buffer;
  readonly attempts: Buffer;
}

/** What is under the names of a key at one revision of the store. */
export interface Seen {
  readonly revision: bigint;
  readonly value?: KeyValue;
  readonly attempts?: KeyValue;
}

interface StoredAttempts {
  readonly attempts: number;
  /** The token of the last of these holds. */
  readonly begun: bigint;
  readonly mark: string;
}

/** The begin and the end of all names of values, between those of queues. */
export const valueSpan = (prefix: string): Span => [
  Buffer.from(`${prefix}/${FOLDER}/`),
  Buffer.from(`${prefix}/${FOLDER}0`),
];

/** The values under the prefix, and their leases. The server has no clock, so leases end them. */
export class StoredValues {
  readonly #client: Client;
  readonly #folder: string;

  constructor(client: Client, prefix: string) {
    this.#client = client;
    this.#folder = `${prefix}/${FOLDER}/`;
  }

  namesOf(key: string): Names {
    const both = `${this.#folder}${encodeURIComponent(key)}/`;
    return { both: Buffer.from(both), value: Buffer.from(`${both}value`), attempts: Buffer.from(`${both}attempts`) };
  }

  async look(key: string): Promise<Seen> {
    const names = this.namesOf(key);
    const { header, kvs } = await this.#client.range(listing(names.both));
    const of = (name: Buffer) => kvs.find((found) => found.key.equals(name));
    return { revision: header!.revision, value: of(names.value), attempts: of(names.attempts) };
  }

  async *keys(prefix: string): AsyncIterable<string> {
    const first = Buffer.from(`${this.#folder}${encodeURIComponent(prefix)}`);
    let last: string | undefined;
    for await (const { key } of this.#client.all([[first, endOf(first)]], true)) {
      const [encoded] = key.toString().slice(this.#folder.length).split('/');
      if (encoded !== last) yield decodeURIComponent(encoded!);
      last = encoded;
    }
  }

  /**
   * The value with its age, which is never told as less than it is. Two things tell it: what is left of its lease, in whole
   * seconds; and its revision, if that is later than the one this process saw when it looked last.
   * @param sent the time that the age is of, by the clock
   */
  async valueIn({ value }: Seen, me?: OwnClaim, sent = 0): Promise<StoredValue | undefined> {
    if (!value) return undefined;
    const { token, term, ageless, text } = readValue(value.value);
    const { header, ttl, granted } = await this.#client.call(TIME_TO_LIVE, { id: value.lease });
    if (ttl < 0n) return undefined;
    // A new leader gives each lease its whole time again. Then the value may be as old as values get.
    const passed = Number(header!.term === term ? granted - ttl : granted) * 1_000;
    const looked = me?.looked ?? (me?.token !== undefined && { revision: me.token, at: me.began });
    const since = looked && value.modRevision > looked.revision ? Math.max(0, sent - looked.at) : passed;
    const age = ageless ? 0 : Math.min(passed, since);
    return { text, token, age, validFor: Math.max(1, Number(ttl) * 1_000) };
  }
}

const VALUE = /^1 (\d+) (\d+) (dated|ageless) (.*)$/s;
const ATTEMPTS = /^1 (\d+) (\d+) (\S+)$/;

/** The text of a value is last, and may hold anything. @param term the lease was granted in this term of a leader, or later */
export const writeValue = (token: bigint, term: bigint, { text, ageless }: NewValue): Buffer =>
  Buffer.from(`1 ${token} ${term} ${ageless ? 'ageless' : 'dated'} ${text}`);

/** @throws LockError `LOCK_INVALID` for a text of another format */
function readValue(stored: Buffer): { token: bigint; term: bigint; ageless: boolean; text: string } {
  const [token, term, how, text] = fieldsOf(VALUE, stored);
  return { token: BigInt(token!), term: BigInt(term!), ageless: how === 'ageless', text: text! };
}

export const writeAttempts = ({ attempts, begun, mark }: StoredAttempts): Buffer =>
  Buffer.from(`1 ${attempts} ${begun} ${mark}`);

/** @throws LockError `LOCK_INVALID` for a text of another format */
export function readAttempts(stored: KeyValue | undefined): StoredAttempts {
  if (!stored) return { attempts: 0, begun: 0n, mark: NO_MARK };
  const [attempts, begun, mark] = fieldsOf(ATTEMPTS, stored.value);
  return { attempts: Number(attempts), begun: BigInt(begun!), mark: mark! };
}

function fieldsOf(form: RegExp, stored: Buffer): string[] {
  const match = form.exec(stored.toString());
  if (!match) throw unknownFormat();
  return match.slice(1);
}
