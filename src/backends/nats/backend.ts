import { type Backend, checkNames, type Finding, invalid, namesOf } from '../../core/index.ts';
import { type RegisterEntry, type RegisterOptions, type RegisterStore, register } from '../register/index.ts';
import { MAX_QUEUE_BYTES } from '../register/open-queue.ts';
import { type Danger, findingsOf } from '../shared/danger.ts';

/** What holdfast uses of a bucket that `Kvm` of `@nats-io/kv`, or `js.views.kv()` of `nats`, has opened. holdfast imports neither package. */
export interface NatsKv {
  get(key: string): Promise<NatsEntry | null>;
  create(key: string, data: Uint8Array): Promise<number>;
  update(key: string, data: Uint8Array, revision: number): Promise<number>;
  delete(key: string): Promise<void>;
  watch(options: { key: string }): Promise<NatsHearing<NatsEntry>>;
  keys(): Promise<NatsHearing<string>>;
  status(): Promise<NatsStatus>;
  /** Whether any replica may answer a read. */
  readonly direct?: boolean;
}

/** What holdfast uses of the settings of a bucket. */
export interface NatsStatus {
  readonly replicas: number;
  readonly storage: string;
  /** The life of an entry, ms; 0 or less: no limit. */
  readonly ttl: number;
  /** Bytes; −1: no limit. */
  readonly maxValueSize: number;
  readonly streamInfo: { readonly config: { readonly mirror?: unknown } };
}

/** What holdfast uses of a watch or a listing of a bucket. */
export interface NatsHearing<T> extends AsyncIterable<T> {
  stop(): void;
  /** The consumer on the server, if the client shows it. */
  readonly _data?: unknown;
}

/** What holdfast uses of an entry of a bucket. */
export interface NatsEntry {
  readonly value: Uint8Array;
  readonly revision: number;
  readonly operation: 'PUT' | 'DEL' | 'PURGE';
}

/** Options of `nats`. */
export interface NatsOptions extends RegisterOptions {
  /** You have set `sync_interval: always` on all servers; no client can see this setting. Default false, which `check` calls a danger. */
  readonly synced?: boolean;
}

/**
 * Locks in a key-value bucket of NATS JetStream, 2.9 or later. `close` leaves the connection open.
 * @throws LockError `LOCK_INVALID` when `bucket` is no bucket, or for a bad option.
 * @example
 * import { Kvm } from '@nats-io/kv';
 * const locks = createLocks(nats(await new Kvm(connection).create('locks', { replicas: 3 })));
 */
export function nats(bucket: NatsKv, options: NatsOptions = {}): Backend {
  if (typeof bucket?.update !== 'function')
    throw invalid(`nats() needs a bucket: await new Kvm(connection).create('locks')`);
  checkNames(options, OPTIONS, 'options of nats()');
  const { synced = false, ...others } = options;
  if (typeof synced !== 'boolean') throw invalid('synced of nats() is true or false');
  return register(storeOf(ledBy(bucket), synced), others);
}

/** The bucket, but all reads go to its leader: with three replicas on one machine, one in five reads lacked the last write of this process. */
const ledBy = (bucket: NatsKv): NatsKv =>
  bucket.direct === undefined ? bucket : Object.assign(Object.create(bucket), { direct: false });

const OPTIONS = namesOf<NatsOptions>({ prefix: true, clock: true, synced: true });

/** The server's codes for a write with an outdated revision. The second comes from a cluster, while another write of the entry is under way. */
const REFUSALS: ReadonlySet<unknown> = new Set([10_071, 10_164]);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const storeOf = (bucket: NatsKv, synced: boolean): RegisterStore => ({
  name: 'nats',
  read: async (key) => entryOf(await bucket.get(key)),
  async write(key, text, ifVersion) {
    const data = encoder.encode(text);
    try {
      const made = ifVersion === undefined ? bucket.create(key, data) : bucket.update(key, data, Number(ifVersion));
      return String(await made);
    } catch (error) {
      const { code, api_error } = error as { code?: unknown; api_error?: { err_code?: number } };
      if (REFUSALS.has(code) || REFUSALS.has(api_error?.err_code)) return false;
      throw error;
    }
  },
  async watch(key, notify) {
    const changes = await bucket.watch({ key });
    void (async () => {
      for await (const entry of changes) notify(entryOf(entry));
    })()
      .catch(() => {})
      .then(() => notify()); // the watch has ended, so the claims that wait have to ask
    return { [Symbol.asyncDispose]: async () => end(changes) };
  },
  async *list(prefix) {
    const keys = await bucket.keys();
    try {
      for await (const key of keys) if (key.startsWith(prefix)) yield key;
    } finally {
      end(keys);
    }
  },
  remove: (key) => bucket.delete(key),
  async keeps() {
    const { ttl } = await bucket.status();
    return ttl > 0 ? ttl : undefined;
  },
  async check(): Promise<Finding[]> {
    const { replicas, storage, ttl, maxValueSize, streamInfo } = await bucket.status();
    const mirror = streamInfo.config.mirror !== undefined;
    return findingsOf(DANGERS, { replicas, storage, ttl, maxValueSize, mirror, synced });
  },
});

/**
 * Ends a watch or a listing, and deletes its consumer. The client only stops listening: the server would keep the consumer for five minutes,
 * and allows about a thousand consumers per stream. Nobody waits for the deletion: if it fails, the server deletes the consumer later.
 */
function end(hearing: NatsHearing<unknown>): void {
  hearing.stop();
  const consumer = hearing._data as { delete?(): Promise<unknown> } | undefined;
  consumer?.delete?.().catch(() => {});
}

const entryOf = (entry: NatsEntry | null): RegisterEntry | undefined =>
  entry?.operation === 'PUT' ? { text: decoder.decode(entry.value), version: String(entry.revision) } : undefined;

export interface Facts extends Omit<NatsStatus, 'streamInfo'> {
  readonly synced: boolean;
  readonly mirror: boolean;
}

export const DANGERS: readonly Danger<Facts>[] = [
  {
    severity: 'danger',
    code: 'one-replica',
    when: ({ replicas }) => replicas < 3,
    message: ({ replicas }) =>
      `the bucket has R${replicas}: with a lost server or disk the locks are lost, and others get them`,
    advice: 'give it three replicas: nats stream edit KV_<bucket> --replicas 3',
  },
  {
    severity: 'danger',
    code: 'memory-storage',
    when: ({ storage }) => storage === 'memory',
    message: 'the bucket is in memory: what a server acknowledged is gone when it starts again',
    advice: 'make it with storage: file',
  },
  {
    severity: 'danger',
    code: 'bucket-ttl',
    when: ({ ttl }) => ttl > 0,
    message: ({ ttl }) =>
      `the bucket removes what nobody has written for ${ttl} ms: a lease that is as long would be gone before its end, and is refused`,
    advice: 'make the bucket without a ttl: nats stream edit KV_<bucket> --max-age 0',
  },
  {
    severity: 'danger',
    code: 'mirror',
    when: ({ mirror }) => mirror,
    message:
      'the bucket is a mirror: it is behind what was written, so a holder may learn that its lock is gone although it is not',
    advice: 'use the bucket that it mirrors',
  },
  {
    severity: 'warning',
    code: 'small-values',
    when: ({ maxValueSize }) => maxValueSize >= 0 && maxValueSize < MAX_QUEUE_BYTES,
    message: ({ maxValueSize }) =>
      `the bucket takes values of up to ${maxValueSize} bytes: a queue of many waiters is longer, and then nobody can join or leave it`,
    advice: 'let it take 256 kB: nats stream edit KV_<bucket> --max-msg-size 262144',
  },
  {
    severity: 'danger',
    code: 'sync-interval',
    when: ({ synced }) => !synced,
    message:
      'JetStream flushes to disk every two minutes unless sync_interval is always: a power failure takes back what was acknowledged, and two may hold',
    advice: 'set jetstream { sync_interval: always } on every server, then pass synced: true',
  },
];
