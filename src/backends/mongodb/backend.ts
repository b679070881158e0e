import {
  type Attempt,
  type Backend,
  type Claim,
  type Clock,
  checkNames,
  checkPrefix,
  type Finding,
  type Handle,
  invalid,
  type Listing,
  type NewValue,
  namesOf,
  type QueueEntry,
  type Release,
  type Renewal,
  systemClock,
  type Traits,
  type Values,
  type Wake,
  withLimit,
} from '../../core/index.ts';
import { valueRecordOf } from '../shared/record.ts';
import { QUEUE_TRAITS } from '../shared/traits.ts';
import { answerTo, FORM, idOf, newsOfValues, type QueueRecord, queueOf } from './documents.ts';
import type { MongoCollection, MongoDb } from './driver.ts';
import { attempting, forgetting, leaving, renewing, storing } from './pipeline.ts';
import { Queues } from './queues.ts';
import { type ChangeListener, Changes } from './wake-ups.ts';

const TRAITS: Traits = { ...QUEUE_TRAITS, wakes: 'watch', ttl: { min: 1, max: 365 * 86_400_000 } };

/** A grant counts only when a majority of the members has it: otherwise a fail-over may undo it. Nothing is read from a secondary. */
const BY_MAJORITY = { writeConcern: { w: 'majority', journal: true }, readPreference: 'primary' };
/** The limit for the write that notifies an evicted holder, ms. */
const NOTIFY_MS = 1_000;
/** How long closing waits for a server that does not answer, ms. */
const CLOSE_MS = 2_000;

/** Options of `mongodb`. */
export interface MongoOptions {
  /** The name of the collection with all keys. Default `holdfast`. */
  readonly prefix?: string;
  /** Time and randomness. Default: the machine's. */
  readonly clock?: Clock;
}

const KNOWN = namesOf<MongoOptions>({ prefix: true, clock: true });

/**
 * Locks in a collection of a database of MongoDB 4.4 or later. `close` leaves the client open.
 * @param db a `Db` of the official driver: `client.db('app')`
 * @throws LockError `LOCK_INVALID` when `db` is no database, or for a bad option.
 * @example
 * import { MongoClient } from 'mongodb';
 * const client = await MongoClient.connect('mongodb://10.0.0.1/?replicaSet=rs');
 * const locks = createLocks(mongodb(client.db('app')));
 */
export function mongodb(db: MongoDb, options: MongoOptions = {}): Backend {
  checkNames(options, KNOWN, 'options of mongodb()');
  const { clock = systemClock } = options;
  const prefix = checkPrefix(options.prefix ?? 'holdfast');
  if (typeof db?.collection !== 'function') throw invalid(`mongodb() needs a database: client.db('app')`);
  return new Mongo(db, prefix, clock);
}

class Mongo implements Backend {
  readonly name = 'mongodb';
  readonly traits = TRAITS;
  readonly #db: MongoDb;
  readonly #queues: Queues;
  readonly #changes: Changes;
  /** Evictions are written to a collection of their own. So the stream for holders brings only evictions. */
  readonly #evictions: Changes;
  readonly #evicted: MongoCollection;
  readonly #clock: Clock;

  constructor(db: MongoDb, collection: string, clock: Clock) {
    this.#db = db;
    const documents = db.collection(collection, BY_MAJORITY);
    this.#queues = new Queues(db, documents, clock);
    this.#changes = new Changes(documents, clock);
    this.#evicted = db.collection(`${collection}_evicted`, BY_MAJORITY);
    this.#evictions = new Changes(this.#evicted, clock, false);
    this.#clock = clock;
  }

  readonly values: Values = {
    look: async (key) => (await this.#queues.look(key)) ?? valueRecordOf(undefined, 0),
    forget: async (key) => (await this.#queues.change(key, forgetting()))?.freed ?? false,
    keys: (prefix) => this.#queues.keys(prefix),
  };

  async attempt(claim: Claim): Promise<Attempt> {
    const { key, within } = claim;
    this.#queues.index();
    const notAfter = await this.#queues.notAfter(within);
    const document = await this.#queues.change(key, attempting(claim, notAfter), within, true);
    return answerTo(claim, document!, notAfter);
  }

  renew(claims: readonly Claim[]): Promise<Renewal[]> {
    return Promise.all(
      claims.map(async (claim): Promise<Renewal> => {
        try {
          return (await this.#renew(claim)) ?? (await this.#renew(claim)) ?? 'unknown';
        } catch {
          return 'unknown';
        }
      }),
    );
  }

  /** @returns undefined when the renewal came too late and changed nothing. Then the server's time is known for the next renewal. */
  async #renew(claim: Claim): Promise<Renewal | undefined> {
    const { key, within } = claim;
    const notAfter = await this.#queues.notAfter(within);
    const document = await this.#queues.change(key, renewing(claim, notAfter), within);
    if (!document || !queueOf(document).find(claim.id)?.held) return 'gone';
    return notAfter && document.now > notAfter ? undefined : { validFor: claim.ttl };
  }

  async release({ key, id }: Handle): Promise<Release> {
    return { freed: (await this.#queues.change(key, leaving({ id })))?.freed ?? false };
  }

  async store({ key, id }: Handle, value: NewValue): Promise<boolean> {
    return (await this.#queues.change(key, storing(id, value)))?.freed ?? false;
  }

  watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const hasNews = claim.accepts ? newsOfValues() : () => false;
    const onChange = (document?: QueueRecord): void => {
      const isNews = document !== undefined && hasNews(document);
      const mine = document?.v === FORM ? queueOf(document).find(claim.id) : undefined;
      // While the claim still waits, it is not woken. If it seems to hold, it is woken without a grant, and attempts
      // again: the hold may be about to expire.
      if (!mine || mine.held || isNews) wake();
    };
    return this.#listen(this.#changes, claim, onChange);
  }

  watchHold(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    return this.#listen(this.#evictions, claim, () => wake());
  }

  async #listen(to: Changes, { key }: Claim, onChange: ChangeListener['onChange']): Promise<AsyncDisposable> {
    if ((await this.#queues.kind()) === 'router') to.poll();
    const stop = await to.listen({ id: idOf(key), onChange });
    return { [Symbol.asyncDispose]: async () => stop() };
  }

  inspect(prefix: string, { exact = false }: Listing = {}): AsyncIterable<QueueEntry> {
    return this.#queues.inspect(prefix, exact);
  }

  async evict(key: string, token: bigint): Promise<boolean> {
    const evicted = (await this.#queues.change(key, leaving({ token })))?.freed ?? false;
    if (evicted) await this.#notifyHolder(key).catch(() => {}); // if this fails, the holder's next renewal finds out
    return evicted;
  }

  /** Writes a document, so that the holder gets its change. The server removes the document after an hour. */
  async #notifyHolder(key: string): Promise<void> {
    const options = { upsert: true, maxTimeMS: NOTIFY_MS };
    await this.#evicted.findOneAndUpdate({ _id: idOf(key) }, [{ $set: { at: '$$NOW' } }], options);
    await this.#evicted.createIndex({ at: 1 }, { name: 'holdfast_evicted', expireAfterSeconds: 3_600 });
  }

  async check(): Promise<Finding[]> {
    const db = this.#db;
    const [{ version }, hello] = await Promise.all([db.command({ buildInfo: 1 }), db.command({ hello: 1 })]);
    return [...versionFindings(String(version)), ...memberFindings(hello)];
  }

  async close(): Promise<void> {
    const closed = Promise.all([this.#changes.close(), this.#evictions.close()]);
    await withLimit(closed, CLOSE_MS, Error, this.#clock).catch(() => {});
  }
}

const SHARDED: Finding = {
  severity: 'warning',
  code: 'sharded',
  message:
    "behind mongos the time is the router's, and a key goes by the latest time of any router: one that is ahead ends leases early that were not renewed in between, and keeps the locks of the dead for so much longer; one that is behind is refused. Waiters ask four times a second, since a router holds changes up",
  advice: 'keep the clocks of all routers together (NTP); leave the collection unsharded, or shard it by _id',
};

function versionFindings(version: string): Finding[] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 4 || (major === 4 && minor >= 4)) return [];
  const message = `MongoDB ${version} is older than 4.4, and the driver does not connect to it`;
  return [{ severity: 'danger', code: 'version', message, advice: 'upgrade to a supported version' }];
}

function memberFindings({ setName, msg, hosts, arbiters }: Record<string, unknown>): Finding[] {
  if (msg === 'isdbgrid') return [SHARDED];
  if (setName === undefined) {
    const message = 'a single server without replication: locks stop with it, and waiters ask four times a second';
    const advice = 'run a replica set, of one member if need be: it has change streams, which wake waiters';
    return [{ severity: 'warning', code: 'standalone', message, advice }];
  }
  const members = Array.isArray(hosts) ? hosts.length : 0;
  if (members >= 3 && !(Array.isArray(arbiters) && arbiters.length > 0)) return [];
  const message = `the replica set has ${members} members with data: majority writes stop with the loss of one`;
  const advice = 'run three or more members with data, and no arbiter';
  return [{ severity: 'warning', code: 'few-members', message, advice }];
}
