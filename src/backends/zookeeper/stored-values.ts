import { hash } from 'node:crypto';
import type { NewValue } from '../../core/contract/backend.ts';
import { NO_MARK } from '../../core/contract/left.ts';
import { type KeyRecord, leavingIn, overAt, readRecord, writeRecord } from '../shared/record.ts';
import { decodeKey, encodeKey } from './names.ts';
import { ensureContainer, list, listNow, read, removeNode, stat, TRIES } from './nodes.ts';
import type { Connection } from './wire/connection.ts';
import { Code, isKeeperError, KeeperError } from './wire/errors.ts';
import { type Acl, createPersistent, multi, type Read, remove, setData } from './wire/operations.ts';
import type { Watcher } from './wire/requests.ts';

/** No key has this node: `@` is encoded in keys. */
const FOLDER = '@words';
/** Nodes of other keys that one sweep looks at. */
const SWEPT = 16;

/** What is stored of a key, with all times by the leader's clock. */
export interface StoredWords {
  readonly record?: KeyRecord;
  /** The leader's time, ms since 1970; 0 where nothing is stored. */
  readonly now: number;
  /** The transaction that left the words. */
  readonly zxid: bigint;
  /** The name that the node of the last hold that counts has, or had, in its line. */
  readonly counted?: string;
}

interface WordsPaths {
  /** One of 256 containers, so that none gets too many children to be listed. */
  readonly bucket: string;
  readonly left: string;
  readonly attempts: string;
}

const NOTHING: StoredWords = { now: 0, zxid: 0n };

/**
 * Two nodes for each key: the words, and the holds that left none. What is stored counts from the time at which its node was written,
 * which the leader sets. So no client's clock has a part in it.
 */
export class WordsNodes {
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
  async read(connection: Connection, key: string, newest: boolean): Promise<StoredWords> {
    const { bucket, left, attempts } = this.#paths(key);
    // All are sent at once, since the server answers in order.
    const [touched, words, counted] = await Promise.all([
      newest ? timeAt(connection, bucket) : undefined,
      read(connection, left),
      read(connection, attempts),
    ]);
    if (!words && !counted) return NOTHING;
    const now = touched ?? (await timeAt(connection, bucket));
    const name = counted && readRecord(counted.data.toString()).text;
    return { record: recordOf(words, counted), now, zxid: words?.stat.mzxid ?? 0n, ...(name && { counted: name }) };
  }

  /** Deletes the node of a holder and leaves its words, in one transaction. @returns false where there is no such node any more */
  async leave(connection: Connection, key: string, holder: string, token: bigint, leave: NewValue): Promise<boolean> {
    const { bucket, left, attempts } = this.#paths(key);
    const data = Buffer.from(writeRecord(leavingIn(token, leave, 0)));
    const there = await Promise.all([stat(connection, left), stat(connection, attempts)]);
    let [hasWords, hasTries] = there.map((found) => found !== undefined);
    for (let turn = 1; turn <= TRIES; turn++) {
      // The words come first: who finds the node of the holder gone finds them.
      const words = hasWords ? setData(left, data) : createPersistent(left, data, this.#acl);
      const steps = [words, ...(hasTries ? [remove(attempts)] : []), remove(holder)];
      const refused = await connection.request(multi(steps));
      if (!refused) return true;
      const { index, code } = refused;
      if (code !== Code.noNode && code !== Code.nodeExists) throw new KeeperError(code, 'multi');
      if (index === steps.length - 1) return false;
      if (index > 0) hasTries = false;
      else if (code === Code.noNode && !hasWords) await ensureContainer(connection, bucket, this.#acl);
      else hasWords = code === Code.nodeExists;
    }
    throw new Error(`the words were removed, or left, ${TRIES} times while they were written`);
  }

  /** Stores the attempts of a record. @param now by which its times are told @param name of the node of the hold */
  async count(
    connection: Connection,
    key: string,
    { attempts, begun, mark, counts }: KeyRecord,
    now: number,
    name: string,
  ): Promise<void> {
    const paths = this.#paths(key);
    const words = { token: 0n, at: 0, until: 0, text: name };
    const data = Buffer.from(writeRecord({ attempts, begun, mark, counts: counts - now, ...words }));
    for (let turn = 1; ; turn++) {
      try {
        await connection.request(setData(paths.attempts, data)).catch((error) => {
          if (!isKeeperError(error, Code.noNode)) throw error;
          return connection.request(createPersistent(paths.attempts, data, this.#acl));
        });
        return;
      } catch (error) {
        if (turn === TRIES || !(error instanceof KeeperError)) throw error;
        if (error.code === Code.noNode) await ensureContainer(connection, paths.bucket, this.#acl);
        else if (error.code !== Code.nodeExists) throw error;
      }
    }
  }

  /** @returns whether there was anything */
  async remove(connection: Connection, key: string): Promise<boolean> {
    const { left, attempts } = this.#paths(key);
    const there = await Promise.all([removeNode(connection, left), removeNode(connection, attempts)]);
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

  /** The watcher is told once, when words are left or removed. */
  async watch(connection: Connection, key: string, watcher: Watcher): Promise<void> {
    await stat(connection, this.#paths(key).left, watcher);
  }

  /** Removes what is over of some keys in the same container. @param from where to begin, from 0 to 1 */
  async sweep(connection: Connection, key: string, from: number): Promise<void> {
    const { bucket } = this.#paths(key);
    const [now, { names }] = await Promise.all([timeAt(connection, bucket), list(connection, bucket)]);
    const begin = Math.floor(from * names.length);
    const some = [...names.slice(begin), ...names.slice(0, begin)].slice(0, SWEPT);
    const sweep = async (name: string): Promise<void> => {
      const node = await read(connection, `${bucket}/${name}`);
      if (!node || overAt(readRecord(node.data.toString())) + node.stat.mtime > now) return;
      await connection.request(remove(`${bucket}/${name}`, node.stat.version)); // not, if it was written meanwhile
    };
    await Promise.allSettled(some.map(sweep));
  }

  #paths(key: string): WordsPaths {
    const bucket = `${this.#folder}/${hash('sha256', key, 'hex').slice(0, 2)}`;
    const name = `${bucket}/${encodeKey(key)}`;
    return { bucket, left: `${name}@left`, attempts: `${name}@attempts` };
  }
}

/** Where the container is gone, nothing is stored any more: then the time is 0. */
async function timeAt(connection: Connection, bucket: string): Promise<number> {
  try {
    return (await connection.request(setData(bucket, new Uint8Array()))).mtime;
  } catch (error) {
    if (isKeeperError(error, Code.noNode)) return 0;
    throw error;
  }
}

/** @throws LockError `LOCK_INVALID` for a format that this version does not know */
function recordOf(words: Read | undefined, counted: Read | undefined): KeyRecord {
  const left = words && readRecord(words.data.toString());
  const attempts = counted && readRecord(counted.data.toString());
  return {
    ...{ attempts: attempts?.attempts ?? 0, begun: attempts?.begun ?? 0n, mark: attempts?.mark ?? NO_MARK },
    counts: attempts ? attempts.counts + counted.stat.mtime : 0,
    ...{ token: left?.token ?? 0n, text: left?.text ?? '' },
    at: left ? left.at + words.stat.mtime : 0,
    until: left ? left.until + words.stat.mtime : 0,
  };
}
