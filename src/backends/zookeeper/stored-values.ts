import { hash } from 'node:crypto';
import { type NewValue, NO_MARK } from '../../core/index.ts';
import { type KeyRecord, leavingIn, overAt, readRecord, writeRecord } from '../shared/record.ts';
import { decodeKey, encodeKey } from './names.ts';
import {
  ensureContainer,
  list,
  listNow,
  MAX_ATTEMPTS,
  putNode,
  read,
  removeNode,
  stat,
  sweep,
  timeAt,
} from './nodes.ts';
import type { Connection } from './wire/connection.ts';
import { Code, KeeperError } from './wire/errors.ts';
import { type Acl, createPersistent, multi, type Read, remove, setData } from './wire/operations.ts';
import type { Watcher } from './wire/requests.ts';

/** No key has this node: `@` is encoded in keys. */
const FOLDER = '@values';

/** What is stored of a key, with all times by the leader's clock. */
export interface Stored {
  readonly record?: KeyRecord;
  /** The leader's time, ms since 1970; 0 where nothing is stored. */
  readonly now: number;
  /** The transaction that stored the value. */
  readonly zxid: bigint;
  /** The name that the node of the last hold that counts has, or had, in its queue. */
  readonly counted?: string;
}

interface Paths {
  /** One of 256 containers, so that none gets too many children to be listed. */
  readonly bucket: string;
  readonly value: string;
  readonly attempts: string;
}

/**
 * Two nodes for each key: the value, and the holds that stored none. What is stored counts from the time at which its node was written,
 * which the leader sets. So no client's clock has a part in it.
 */
export class StoredValues {
  readonly #folder: string;
  readonly #acl: readonly Acl[];

  constructor(root: string, acl: readonly Acl[]) {
    this.#folder = `${root}/${FOLDER}`;
    this.#acl = acl;
  }

  /**
   * Only a write tells the leader's time, and it is made only where something is stored.
   * @param newest nothing that was answered anywhere before is missed
   */
  async read(connection: Connection, key: string, newest: boolean): Promise<Stored> {
    const paths = this.#paths(key);
    // All are sent at once, since the server answers in order.
    const [touched, value, counted] = await Promise.all([
      newest ? timeAt(connection, paths.bucket) : undefined,
      read(connection, paths.value),
      read(connection, paths.attempts),
    ]);
    if (!value && !counted) return { now: 0, zxid: 0n };
    const now = touched ?? (await timeAt(connection, paths.bucket));
    const name = counted && readRecord(counted.data.toString()).text;
    return { record: recordOf(value, counted), now, zxid: value?.stat.mzxid ?? 0n, ...(name && { counted: name }) };
  }

  /** Deletes the node of a holder and stores its value, in one transaction. @returns false where there is no such node any more */
  async store(connection: Connection, key: string, holder: string, token: bigint, stored: NewValue): Promise<boolean> {
    const { bucket, value, attempts } = this.#paths(key);
    const data = Buffer.from(writeRecord(leavingIn(token, stored, 0)));
    const there = await Promise.all([stat(connection, value), stat(connection, attempts)]);
    let [hasValue, hasAttempts] = there.map((found) => found !== undefined);
    for (let turn = 1; turn <= MAX_ATTEMPTS; turn++) {
      // The value comes first: a process that finds the node of the holder gone finds it.
      const put = hasValue ? setData(value, data) : createPersistent(value, data, this.#acl);
      const steps = [put, ...(hasAttempts ? [remove(attempts)] : []), remove(holder)];
      const refused = await connection.request(multi(steps));
      if (!refused) return true;
      const { index, code } = refused;
      if (code !== Code.noNode && code !== Code.nodeExists) throw new KeeperError(code, 'multi');
      if (index === steps.length - 1) return false;
      if (index > 0) hasAttempts = false;
      else if (code === Code.noNode && !hasValue) await ensureContainer(connection, bucket, this.#acl);
      else hasValue = code === Code.nodeExists;
    }
    throw new Error(`the value was removed, or stored, ${MAX_ATTEMPTS} times while it was written`);
  }

  /** Stores the attempts of a record. @param now by which its times are told @param name of the node of the hold */
  count(connection: Connection, key: string, record: KeyRecord, now: number, name: string): Promise<unknown> {
    const counts = record.counts - now;
    const stored = writeRecord({ ...record, counts, token: 0n, at: 0, until: 0, text: name });
    return putNode(connection, this.#paths(key).attempts, Buffer.from(stored), this.#acl);
  }

  /** @returns whether there was anything */
  async remove(connection: Connection, key: string): Promise<boolean> {
    const { value, attempts } = this.#paths(key);
    const there = await Promise.all([removeNode(connection, value), removeNode(connection, attempts)]);
    return there.includes(true);
  }

  /** The keys that begin with `prefix`, container by container. @param progress called after each, with the keys so far */
  async *keys(connection: Connection, prefix: string, progress?: (looked: number) => void): AsyncIterable<string> {
    let looked = 0;
    for (const bucket of (await listNow(connection, this.#folder)).names) {
      const { names } = await list(connection, `${this.#folder}/${bucket}`);
      const keys = new Set(names.map((name) => decodeKey(name.slice(0, name.lastIndexOf('@')))));
      for (const key of keys) if (key?.startsWith(prefix)) yield key;
      looked += names.length;
      progress?.(looked);
    }
  }

  /** The watcher is told once, when a value is stored or removed. */
  async watch(connection: Connection, key: string, watcher: Watcher): Promise<void> {
    await stat(connection, this.#paths(key).value, watcher);
  }

  /** Removes what is over of some keys in the same container. @param from where to begin, from 0 to 1 */
  sweep(connection: Connection, key: string, from: number): Promise<void> {
    return sweep(connection, this.#paths(key).bucket, from, (data) => overAt(readRecord(data)));
  }

  #paths(key: string): Paths {
    const bucket = `${this.#folder}/${hash('sha256', key, 'hex').slice(0, 2)}`;
    const name = `${bucket}/${encodeKey(key)}`;
    return { bucket, value: `${name}@value`, attempts: `${name}@attempts` };
  }
}

/** @throws LockError `LOCK_INVALID` for a format that this version does not know */
function recordOf(value: Read | undefined, counted: Read | undefined): KeyRecord {
  const stored = value && readRecord(value.data.toString());
  const attempts = counted && readRecord(counted.data.toString());
  return {
    ...{ attempts: attempts?.attempts ?? 0, begun: attempts?.begun ?? 0n, mark: attempts?.mark ?? NO_MARK },
    counts: attempts ? attempts.counts + counted.stat.mtime : 0,
    ...{ token: stored?.token ?? 0n, text: stored?.text ?? '' },
    at: stored ? stored.at + value.stat.mtime : 0,
    until: stored ? stored.until + value.stat.mtime : 0,
  };
}
