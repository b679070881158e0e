import { hash } from 'node:crypto';
import type { Attempt, Claim, Handle, NewValue, ValueRecord, Values } from '../../core/index.ts';
import { type KeyRecord, recordOf, recordWith, storedValueIn, valueRecordOf, writeRecord } from '../shared/record.ts';
import { type RepeatedWatch, watchEach } from '../shared/repeated-watch.ts';
import { askBeside } from '../shared/values-beside.ts';
import { decodeKey, encodeKey } from './names.ts';
import {
  type Ask,
  ensureContainer,
  list,
  listNow,
  MAX_ATTEMPTS,
  putNode,
  read,
  recordIn,
  removeNode,
  stat,
  sweep,
  timeAt,
} from './nodes.ts';
import type { Settings } from './options.ts';
import type { OwnNode } from './own-node.ts';
import type { OwnNodes } from './own-nodes.ts';
import type { ZooKeeperConnection } from './wire/connection.ts';
import { Code, KeeperError } from './wire/errors.ts';
import { createPersistent, multi, remove, setData } from './wire/operations.ts';
import type { Watcher } from './wire/requests.ts';

/** No key has a node of this name, since an `@` in a key is percent-encoded. */
const FOLDER = '@values';

/** On average, one in this many writes also removes expired nodes of other keys. */
const WRITES_PER_SWEEP = 8;

/** What is stored beside the queue of a key. All times are by the leader's clock. */
interface Stored {
  readonly record?: KeyRecord;
  /** The leader's time, ms since 1970; 0 if nothing is stored. */
  readonly now: number;
  readonly zxid: bigint;
  /** The hold that was counted last: the name of its node in the queue. */
  readonly counted?: string;
}

/**
 * Values beside the queues, in two persistent nodes for each key: the value, and the number of holds that stored no value. The times in a
 * node count from the last write of the node. The leader stores the time of that write, so no clock of a client matters.
 */
export class ZookeeperValues implements Values {
  readonly #folder: string;
  readonly #settings: Settings;
  readonly #own: OwnNodes;
  readonly #ask: Ask;

  constructor(settings: Settings, own: OwnNodes, ask: Ask) {
    this.#folder = `${settings.root}/${FOLDER}`;
    this.#settings = settings;
    this.#own = own;
    this.#ask = ask;
  }

  look(key: string): Promise<ValueRecord> {
    return this.#ask('look at a value', async (connection) => {
      const { record, now } = await this.#read(connection, key, true);
      return valueRecordOf(record, now);
    });
  }

  /** @param progress called after each container, with the number of nodes so far */
  async *keys(prefix: string, progress?: (looked: number) => void): AsyncIterable<string> {
    const connection = await this.#ask('list values', async (open) => open);
    let looked = 0;
    for (const bucket of (await listNow(connection, this.#folder)).names) {
      const { names } = await list(connection, `${this.#folder}/${bucket}`);
      const keys = new Set(names.map((name) => decodeKey(name.slice(0, name.lastIndexOf('@')))));
      for (const key of keys) if (key?.startsWith(prefix)) yield key;
      looked += names.length;
      progress?.(looked);
    }
  }

  forget(key: string): Promise<boolean> {
    const { value, attempts } = this.#paths(key);
    return this.#ask('forget a value', async (connection) => {
      return (await Promise.all([value, attempts].map((path) => removeNode(connection, path)))).includes(true);
    });
  }

  /** @param sent when the attempt began, by the clock */
  ask(connection: ZooKeeperConnection, claim: Claim, sent: number, attempt: () => Promise<Attempt>): Promise<Attempt> {
    const { key, id, accepts } = claim;
    if (!accepts) return attempt();
    return askBeside(claim, accepts, attempt, async () => {
      const place = this.#own.get(id, connection.session);
      const looked = this.#settings.clock.now();
      const stored = await this.#read(connection, key, false);
      const { now, counted } = stored;
      return {
        record: recordAsOf(stored, looked - sent, place && { token: place.token, waited: sent - place.made }),
        now,
        withdraw: () => this.#own.withdraw(connection, claim),
        stands: async () =>
          (await stat(connection, `${this.#own.parent(key)}/${counted}`))?.czxid === stored.record?.begun,
        count: (changed) => this.#count(connection, key, { ...changed, text: place!.name }, now),
      };
    });
  }

  async store(connection: ZooKeeperConnection, handle: Handle, value: NewValue): Promise<boolean> {
    const { id, key } = handle;
    const place = this.#own.get(id, connection.session);
    const isHeld = place?.lost !== undefined;
    const stored = isHeld && (await this.#put(connection, key, place, value));
    if (isHeld) this.#maySweep(connection, key);
    this.#own.giveUp(handle);
    if (stored) this.#own.forgive(id);
    else await this.#own.leave(connection, handle);
    return stored;
  }

  listen({ key }: Claim, wake: () => void): RepeatedWatch {
    const { value } = this.#paths(key);
    const set = (notify: Watcher) =>
      this.#ask('watch for a value', async (connection) => {
        await stat(connection, value, notify);
        return () => connection.unwatch(value, notify);
      });
    return watchEach(set, wake, this.#settings.clock);
  }

  /**
   * Only the answer to a write has the leader's time. So this method writes to the bucket; without `newest`, only if something is stored.
   * @param newest whether this must see every write that any server has answered before
   */
  async #read(connection: ZooKeeperConnection, key: string, newest: boolean): Promise<Stored> {
    const paths = this.#paths(key);
    // All requests are sent at once: the server answers in order.
    const [touched, value, counted] = await Promise.all([
      newest ? timeAt(connection, paths.bucket) : undefined,
      read(connection, paths.value),
      read(connection, paths.attempts),
    ]);
    if (!value && !counted) return { now: 0, zxid: 0n };
    const now = touched ?? (await timeAt(connection, paths.bucket));
    const attempts = counted && recordIn(counted);
    const record = recordOf(value && recordIn(value), attempts);
    return { record, now, zxid: value?.stat.mzxid ?? 0n, ...(attempts && { counted: attempts.text }) };
  }

  /** Deletes the node of a holder and stores its value, in one transaction. @returns false if the node is gone */
  async #put(
    connection: ZooKeeperConnection,
    key: string,
    { path, token }: OwnNode,
    stored: NewValue,
  ): Promise<boolean> {
    const { acl } = this.#settings;
    const { bucket, value, attempts } = this.#paths(key);
    const data = Buffer.from(writeRecord(recordWith(token, stored, 0)));
    const there = await Promise.all([stat(connection, value), stat(connection, attempts)]);
    let [hasValue, hasAttempts] = there.map((found) => found !== undefined);
    for (let turn = 1; turn <= MAX_ATTEMPTS; turn++) {
      // The value is written first: a process that finds the node of the holder gone also finds the value.
      const put = hasValue ? setData(value, data) : createPersistent(value, data, acl);
      const steps = [put, ...(hasAttempts ? [remove(attempts)] : []), remove(path)];
      const refused = await connection.request(multi(steps));
      if (!refused) return true;
      const { index, code } = refused;
      if (code !== Code.noNode && code !== Code.nodeExists) throw new KeeperError(code, 'multi');
      if (index === steps.length - 1) return false;
      if (index > 0) hasAttempts = false;
      else if (code === Code.noNode && !hasValue) await ensureContainer(connection, bucket, acl);
      else hasValue = code === Code.nodeExists;
    }
    throw new Error(`the value was removed, or stored, ${MAX_ATTEMPTS} times while it was written`);
  }

  /** @param record its text is the name of the node of the hold @param now the leader's time when `record` was read */
  #count(connection: ZooKeeperConnection, key: string, record: KeyRecord, now: number): Promise<unknown> {
    const stored = writeRecord({ ...recordOf(undefined, record), counts: record.counts - now, text: record.text });
    const put = putNode(connection, this.#paths(key).attempts, Buffer.from(stored), this.#settings.acl);
    this.#maySweep(connection, key); // runs that always fail store no value
    return put;
  }

  #maySweep(connection: ZooKeeperConnection, key: string): void {
    const { clock } = this.#settings;
    if (clock.random() >= 1 / WRITES_PER_SWEEP) return;
    sweep(connection, this.#paths(key).bucket, clock.random()).catch(() => {}); // the next sweep finds the same nodes
  }

  /** The bucket is one of 256 containers, so that no container gets too many children for a listing. */
  #paths(key: string) {
    const bucket = `${this.#folder}/${hash('sha256', key, 'hex').slice(0, 2)}`;
    const name = `${bucket}/${encodeKey(key)}`;
    return { bucket, value: `${name}@value`, attempts: `${name}@attempts` };
  }
}

/**
 * The record, with the age that its value had when an attempt was sent. The age is the smaller of two upper bounds: the age by the leader's
 * clock, and, if the value was stored after the node of the claim was made, the time that the claim has waited.
 * @param since the time from the sending of the attempt to the read, ms
 * @param place the token of the claim's node, and the longest possible time from the creation of the node to the attempt, ms
 */
function recordAsOf(
  { record, now, zxid }: Stored,
  since: number,
  place: { readonly token: bigint; readonly waited: number } | undefined,
): KeyRecord | undefined {
  const value = storedValueIn(record, now);
  if (!record || !value) return record;
  const waited = place && zxid > place.token ? place.waited : Number.POSITIVE_INFINITY;
  if (value.age < 0 && waited === Number.POSITIVE_INFINITY) return record;
  return { ...record, at: now - Math.max(0, Math.min(value.age - since, waited)) };
}
