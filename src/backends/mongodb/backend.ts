import {
  type Attempt,
  type Backend,
  Bell,
  type Claim,
  type Clock,
  type Finding,
  type Handle,
  invalid,
  type Listing,
  MAX_PLACE_TTL_MS,
  type NewValue,
  type QueueEntry,
  type Release,
  type Renewal,
  type Traits,
  type Wake,
} from '../../core/index.ts';
import { LONGEST_WORDS } from '../shared/record.ts';
import { check } from './check.ts';
import type { LineDocument, MongoCollection, MongoDb } from './driver.ts';
import { Lines } from './lines.ts';
import { type MongoOptions, resolveMongoOptions } from './options.ts';
import { attempting, FORM, idOf, leaving, renewing } from './pipeline.ts';
import { answerTo, entriesOf } from './reading.ts';
import { Changes } from './wake-ups.ts';
import { MongoWords, newsOfWords } from './words.ts';

const TRAITS: Traits = {
  units: 'counted',
  fair: true,
  fencing: 'durable',
  tokenBlocks: true,
  wakes: 'watch',
  expires: true,
  lifetime: 'lease',
  renewedFrom: 'anywhere',
  placeTtl: MAX_PLACE_TTL_MS,
  values: { maxBytes: LONGEST_WORDS },
  ttl: { min: 1, max: 365 * 86_400_000 },
};

/** A grant counts only when a majority has it; otherwise a fail-over undoes it. Nothing is read from a secondary. */
const SURE = { writeConcern: { w: 'majority', journal: true }, readPreference: 'primary' };
/** How long closing waits for a server that does not answer. ms. */
const LAST_WORD = 2_000;

/**
 * Locks in a collection of a database of MongoDB 4.4 or later. The client stays yours, and open.
 * @param db a `Db` of the official driver: `client.db('app')`
 * @throws LockError `LOCK_INVALID` when it is no database, or for a bad option.
 * @example
 * import { MongoClient } from 'mongodb';
 * const client = await MongoClient.connect('mongodb://10.0.0.1/?replicaSet=rs');
 * const locks = createLocks(mongodb(client.db('app')));
 */
export function mongodb(db: MongoDb, options: MongoOptions = {}): Backend {
  const { prefix, clock } = resolveMongoOptions(options);
  if (typeof db?.collection !== 'function') throw invalid(`mongodb() needs a database: client.db('app')`);
  return new Mongo(db, prefix, clock);
}

class Mongo implements Backend {
  readonly name = 'mongodb';
  readonly traits = TRAITS;
  readonly values: MongoWords;
  readonly #db: MongoDb;
  readonly #collection: MongoCollection;
  readonly #lines: Lines;
  readonly #changes: Changes;
  readonly #clock: Clock;

  constructor(db: MongoDb, collection: string, clock: Clock) {
    this.#db = db;
    this.#collection = db.collection(collection, SURE);
    this.#lines = new Lines(db, this.#collection, clock);
    this.values = new MongoWords(this.#collection, this.#lines);
    this.#changes = new Changes(this.#collection, clock);
    this.#clock = clock;
  }

  async attempt(claim: Claim): Promise<Attempt> {
    const { key, within } = claim;
    this.#lines.index();
    if (claim.accepts) return this.values.ask(claim, claim.accepts);
    const notAfter = this.#lines.notAfter(within);
    const document = await this.#lines.change(key, attempting(claim, notAfter), within, true);
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

  /** Undefined when it came too late and changed nothing. Then the server's time is known. */
  async #renew(claim: Claim): Promise<Renewal | undefined> {
    const { key, within } = claim;
    const notAfter = this.#lines.notAfter(within);
    const document = await this.#lines.change(key, renewing(claim, notAfter), within);
    if (!document || !answerTo(claim, document).granted) return 'gone';
    return notAfter && document.now > notAfter ? undefined : { validFor: claim.ttl };
  }

  async release({ key, id }: Handle, next?: Claim, leave?: NewValue): Promise<Release> {
    if (leave || next?.accepts) {
      const released = leave ? await this.values.leave({ key, id }, leave) : await this.release({ key, id });
      return next ? { ...released, next: await this.attempt(next) } : released;
    }
    if (!next) return { freed: (await this.#lines.change(key, leaving({ id })))?.freed ?? false };
    const notAfter = this.#lines.notAfter(next.within);
    const document = (await this.#lines.change(key, leaving({ id }, next, notAfter), next.within, true))!;
    return { freed: document.freed ?? false, next: answerTo(next, document, notAfter) };
  }

  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const hasNews = claim.accepts ? newsOfWords() : () => false;
    const onChange = (document?: LineDocument): void => {
      const place = document?.line?.find(({ id }) => id === claim.id);
      // Silent while the claim still waits. If it seems to hold, the next attempt tells, since the hold may be at its end.
      const isNews = document !== undefined && hasNews(document);
      if (document && place && document.v === FORM && !isNews && !answerTo(claim, document).granted) return;
      wake();
    };
    if ((await this.#lines.kind()) === 'router') this.#changes.poll();
    const stop = await this.#changes.listen({ id: idOf(claim.key), onChange });
    return { [Symbol.asyncDispose]: async () => stop() };
  }

  inspect(prefix: string, { exact = false }: Listing = {}): AsyncIterable<QueueEntry> {
    return entriesOf(this.#collection, prefix, exact);
  }

  async evict(key: string, token: bigint): Promise<boolean> {
    return (await this.#lines.change(key, leaving({ token })))?.freed ?? false;
  }

  check(): Promise<Finding[]> {
    return check(this.#db);
  }

  async close(): Promise<void> {
    const limit = new Bell(this.#clock);
    void this.#changes.close().then(limit.ring);
    await limit.sleep(LAST_WORD);
  }
}
