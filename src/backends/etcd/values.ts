import type { Attempt, Claim, Handle, NewValue, ValueCondition, ValueRecord, Values } from '../../core/index.ts';
import { type KeyRecord, readRecord, recordOf, recordWith, valueRecordOf, writeRecord } from '../shared/record.ts';
import { type RepeatedWatch, watchEach } from '../shared/repeated-watch.ts';
import { askBeside } from '../shared/values-beside.ts';
import type { ServerLease } from './leases.ts';
import type { EtcdConnection } from './options.ts';
import type { OwnClaims } from './own-claims.ts';
import { type OwnClaim, secondsOf } from './queue.ts';
import type { Span } from './wire/client.ts';
import { isStatus, STATUS } from './wire/grpc.ts';
import {
  endOf,
  ifUnchanged,
  type KeyValue,
  list,
  listing,
  look,
  remove,
  stand,
  stillStands,
  TIME_TO_LIVE,
} from './wire/messages.ts';

/** No queue has this name: in keys, `@` is percent-encoded. */
const FOLDER = '@values';

/** The range of the names of values. It lies among the names of queues. */
export const valueSpan = (prefix: string): Span => [
  Buffer.from(`${prefix}/${FOLDER}/`),
  Buffer.from(`${prefix}/${FOLDER}0`),
];

/** What is stored beside the queue of a key at one revision of the store. Times in the record count from now, which is 0. */
interface Seen {
  readonly revision: bigint;
  readonly attempts?: KeyValue;
  readonly record?: KeyRecord;
}

/** A stored value begins with a term: the lease of the value was granted in that term, or later. */
const VALUE = /^(\d+) (.*)$/s;

/**
 * Values beside the queues, in two keys of etcd for each lock: `value`, and `attempts` for the holds that stored none. etcd reports no
 * time. So each of the two keys is under a lease of its own, and is deleted when that lease ends.
 */
export class EtcdValues implements Values {
  readonly #etcd: EtcdConnection;
  readonly #own: OwnClaims;
  readonly #folder: string;

  constructor(opened: EtcdConnection, claims: OwnClaims) {
    this.#etcd = opened;
    this.#own = claims;
    this.#folder = `${opened.prefix}/${FOLDER}/`;
  }

  async look(key: string): Promise<ValueRecord> {
    return valueRecordOf((await this.#look(key)).record, 0);
  }

  async *keys(prefix: string): AsyncIterable<string> {
    const first = Buffer.from(`${this.#folder}${encodeURIComponent(prefix)}`);
    let last: string | undefined;
    for await (const { key } of this.#etcd.client.all([[first, endOf(first)]], true)) {
      const [encoded] = key.toString().slice(this.#folder.length).split('/');
      if (encoded !== last) yield decodeURIComponent(encoded!);
      last = encoded;
    }
  }

  async forget(key: string): Promise<boolean> {
    const names = this.#namesOf(key);
    const success = [list(names.both), remove(names.value), remove(names.attempts)];
    const { kvs } = (await this.#etcd.client.txn({ success })).responses[0]!.range!;
    for (const { lease } of kvs) this.#own.leases.endSoon(lease);
    return kvs.length > 0;
  }

  /** @param sent when the attempt began, by the clock */
  ask(claim: Claim, accepts: ValueCondition, sent: number, attempt: () => Promise<Attempt>): Promise<Attempt> {
    return askBeside(claim, accepts, attempt, async () => {
      const me = this.#own.known.get(claim.id);
      const at = this.#etcd.clock.now();
      const seen = await this.#look(claim.key, me, sent);
      if (me) me.looked = { revision: seen.revision, at };
      return {
        record: seen.record,
        now: 0,
        withdraw: () => this.#own.release(claim),
        stands: () => this.#stands(claim, seen.record!.begun),
        count: (changed) => this.#count(claim, changed, seen),
      };
    });
  }

  async #stands({ key }: Claim, token: bigint): Promise<boolean> {
    const queue = listing(this.#own.known.queueOf(key));
    const [first] = (await this.#etcd.client.range({ ...queue, limit: 1n, keysOnly: true })).kvs;
    return first?.createRevision === token;
  }

  /** Frees the key and stores the value in one transaction. */
  async store(handle: Handle, value: NewValue): Promise<boolean> {
    const { known } = this.#own;
    const me = known.get(handle.id);
    if (me?.state.is !== 'admitted') {
      await this.#own.release(handle);
      return false;
    }
    const isRepeated = me.valueLease !== undefined;
    me.valueLease ??= await this.#own.leases.grant(secondsOf(value.ttl));
    const { id } = me.valueLease;
    const stored = await this.#put(me, handle.key, me.valueLease, value).catch((error: unknown) => {
      if (isStatus(error, STATUS.notFound)) me.valueLease = undefined; // the lease ended before the value was put under it
      throw error;
    });
    // If this release is repeated, its first message may have put the value under that lease, so the lease must stay.
    if (!stored && !isRepeated) this.#own.leases.endSoon(id);
    if (!stored) me.lease.state = 'named';
    known.forget(handle.id);
    return stored;
  }

  async #put(me: OwnClaim, key: string, { id, term }: ServerLease, value: NewValue): Promise<boolean> {
    const names = this.#namesOf(key);
    const text = Buffer.from(`${term} ${writeRecord(recordWith(me.token!, value, 0))}`);
    const { succeeded, responses } = await this.#etcd.client.txn({
      compare: [stillStands(me.name, me.token!)],
      success: [list(names.both), stand(names.value, text, id), remove(names.attempts), remove(me.name)],
      failure: [look(me.name)],
    });
    if (succeeded) for (const { lease } of responses[0]!.range!.kvs) this.#own.leases.endSoon(lease);
    return succeeded;
  }

  async #count({ key, id }: Claim, changed: KeyRecord, { attempts: before }: Seen): Promise<void> {
    const { leases, known } = this.#own;
    const { attempts } = this.#namesOf(key);
    const lease = await leases.grant(secondsOf(changed.counts));
    const text = Buffer.from(writeRecord(recordOf(undefined, changed)));
    const { succeeded } = await this.#etcd.client.txn({
      compare: [stillStands(known.get(id)!.name, changed.begun), ifUnchanged(attempts, before?.modRevision ?? 0n)],
      success: [stand(attempts, text, lease.id)],
    });
    const unused = succeeded ? before?.lease : lease.id;
    if (unused !== undefined) leases.endSoon(unused);
    if (!succeeded) throw new Error('the hold is gone, or its attempts were forgotten as it was counted');
  }

  listen({ key }: Claim, wake: () => void): RepeatedWatch {
    const value = { key: this.#namesOf(key).value, puts: true };
    return watchEach((notify) => this.#own.watches.next(value, notify), wake, this.#etcd.clock);
  }

  /** @param both the common beginning of both names */
  #namesOf(key: string, both = `${this.#folder}${encodeURIComponent(key)}/`) {
    return { both: Buffer.from(both), value: Buffer.from(`${both}value`), attempts: Buffer.from(`${both}attempts`) };
  }

  async #look(key: string, me?: OwnClaim, sent?: number): Promise<Seen> {
    const names = this.#namesOf(key);
    const { header, kvs } = await this.#etcd.client.range(listing(names.both));
    const [stored, attempts] = [names.value, names.attempts].map((name) => kvs.find((found) => found.key.equals(name)));
    const { revision } = header!;
    if (!stored && !attempts) return { revision };
    // Each key ends with its lease. So attempts that are found still count.
    const counted = attempts && { ...readRecord(attempts.value.toString()), counts: Number.POSITIVE_INFINITY };
    return { revision, attempts, record: recordOf(stored && (await this.#valueIn(stored, me, sent)), counted) };
  }

  /**
   * The returned age is never less than the real one. The age has two upper bounds: how much of the value's lease has passed, in whole
   * seconds; and, if the value came after the last look of this process, the time since that look.
   * @param sent the time at which the age is asked for, by the clock
   */
  async #valueIn(value: KeyValue, me?: OwnClaim, sent = 0): Promise<KeyRecord | undefined> {
    const [, term = '', text = ''] = VALUE.exec(value.value.toString()) ?? [];
    const record = readRecord(text);
    const { header, ttl, granted } = await this.#etcd.client.call(TIME_TO_LIVE, { id: value.lease });
    if (ttl < 0n) return undefined;
    // A new leader gives each lease its whole time again. Then the only bound of the age is the whole time of the lease.
    const passed = Number(header!.term === BigInt(term) ? granted - ttl : granted) * 1_000;
    const looked = me?.looked ?? (me?.token !== undefined && { revision: me.token, at: me.began });
    const since = looked && value.modRevision > looked.revision ? Math.max(0, sent - looked.at) : passed;
    const until = Math.max(1, Number(ttl) * 1_000);
    const isAgeless = record.at > 0;
    return { ...record, at: isAgeless ? until : -Math.min(passed, since), until };
  }
}
