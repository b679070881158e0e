import type { Backend, Finding } from '../../core/contract/backend.ts';
import { invalid } from '../../core/contract/errors.ts';
import { checkNames, namesOf } from '../../core/contract/options.ts';
import { type RegisterEntry, type RegisterOptions, type RegisterStore, register } from '../register/index.ts';
import { type Danger, findingsOf } from '../shared/danger.ts';

/** What holdfast uses of a bucket, as `Kvm` of `@nats-io/kv` opens it, or `js.views.kv()` of `nats`. It imports neither. */
export interface NatsKv {
  get(key: string): Promise<NatsEntry | null>;
  create(key: string, data: Uint8Array): Promise<number>;
  update(key: string, data: Uint8Array, revision: number): Promise<number>;
  delete(key: string): Promise<void>;
  watch(options: { key: string }): Promise<AsyncIterable<NatsEntry> & { stop(): void }>;
  keys(): Promise<AsyncIterable<string>>;
  status(): Promise<{ readonly replicas: number; readonly storage: string }>;
}

/** What holdfast uses of an entry of a bucket. */
export interface NatsEntry {
  readonly value: Uint8Array;
  readonly revision: number;
  readonly operation: 'PUT' | 'DEL' | 'PURGE';
}

/** Options of `nats`. */
export interface NatsOptions extends RegisterOptions {
  /** You have set `sync_interval: always` on all servers, which no client can see. Default false: `check` calls it a danger. */
  readonly synced?: boolean;
}

/**
 * Locks in a key-value bucket of NATS JetStream, 2.9 or later. The connection stays yours.
 * @throws LockError `LOCK_INVALID` when it is no bucket, or for a bad option.
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
  return register(storeOf(bucket, synced), others);
}

const OPTIONS = namesOf<NatsOptions>({ prefix: true, clock: true, synced: true });

/** The server's code of a write that came with another revision than there is. */
const WRONG_REVISION = 10_071;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const storeOf = (bucket: NatsKv, synced: boolean): RegisterStore => ({
  name: 'nats',
  read: async (key) => entryOf(await bucket.get(key)),
  async write(key, text, ifVersion) {
    const data = encoder.encode(text);
    try {
      return String(
        await (ifVersion === undefined ? bucket.create(key, data) : bucket.update(key, data, Number(ifVersion))),
      );
    } catch (error) {
      const { code, api_error } = error as { code?: unknown; api_error?: { err_code?: number } };
      if (code === WRONG_REVISION || api_error?.err_code === WRONG_REVISION) return false;
      throw error;
    }
  },
  async watch(key, tell) {
    const changes = await bucket.watch({ key });
    void (async () => {
      for await (const entry of changes) tell(entryOf(entry));
    })()
      .catch(() => {})
      .then(() => tell()); // nothing is heard any more, so those who wait have to ask
    return { [Symbol.asyncDispose]: async () => changes.stop() };
  },
  async *list(prefix) {
    for await (const key of await bucket.keys()) if (key.startsWith(prefix)) yield key;
  },
  remove: (key) => bucket.delete(key),
  check: async (): Promise<Finding[]> => findingsOf(DANGERS, { ...(await statusOf(bucket)), synced }),
});

const entryOf = (entry: NatsEntry | null): RegisterEntry | undefined =>
  entry?.operation === 'PUT' ? { text: decoder.decode(entry.value), version: String(entry.revision) } : undefined;

interface Facts {
  readonly replicas: number;
  readonly storage: string;
  readonly synced: boolean;
}

const statusOf = async (bucket: NatsKv): Promise<Omit<Facts, 'synced'>> => {
  const { replicas, storage } = await bucket.status();
  return { replicas, storage };
};

const DANGERS: readonly Danger<Facts>[] = [
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
    message: 'the bucket is in memory: what a server acknowledged is gone when it starts anew',
    advice: 'make it with storage: file',
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
