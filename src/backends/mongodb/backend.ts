import { admitted } from '../../core/admission.ts';
import {
  type Attempt,
  type Backend,
  type Claim,
  type Finding,
  type Grant,
  type Handle,
  type Listing,
  LONGEST_PLACE_TTL,
  type Release,
  type Renewal,
  type Standing,
  type Traits,
} from '../../core/backend.ts';
import { Bell } from '../../core/bell.ts';
import type { Clock } from '../../core/clock.ts';
import { invalid, LockError } from '../../core/errors.ts';
import { check } from './check.ts';
import type { LineDocument, MongoCollection, MongoDb } from './driver.ts';
import { isDuplicate, refusal } from './errors.ts';
import { type MongoOptions, resolveMongoOptions } from './options.ts';
import { attempting, FORM, idOf, keyOf, leaving, renewing, type Stage } from './pipeline.ts';
import { refuseLookalikes } from './server-kind.ts';
import { Changes } from './wake-ups.ts';

const TRAITS: Traits = {
  seats: 'counted',
  fair: true,
  fencing: 'durable',
  spans: true,
  wakes: 'watch',
  lapses: true,
  keptBy: 'lease',
  placeTtl: LONGEST_PLACE_TTL,
  ttl: { min: 1, max: 365 * 86_400_000 },
};

/** A grant counts only when a majority has it: otherwise a fail-over undoes it. Nothing is ever read from a secondary. */
const SURE = { writeConcern: { w: 'majority', journal: true }, readPreference: 'primary' };
/** How long a document is kept after its last use, s. It outlasts any step back of a server's clock that is not a disaster. */
const KEPT = 86_400;
/** Longest time the server may take over what has no limit of its own. ms. */
const LONGEST = 5_000;
/** How long closing waits for a server that does not answer. ms. */
const LAST_WORD = 2_000;

/**
 * Locks in a collection of a database of MongoDB 4.4 or later. The client stays yours, and open.
 * @param db a `Db` of the official driver: `client.db('app')`
 * @throws LockError `LOCK_INVALID` when it is no database, or for a bad option.
 */
export function mongodb(db: MongoDb, options: MongoOptions = {}): Backend {
  const { prefix, clock } = resolveMongoOptions(options);
  if (typeof db?.collection !== 'function') throw invalid(`mongodb() needs a database: client.db('app')`);
  return new Mongo(db, prefix, clock);
}

class Mongo implements Backend {
  readonly name = 'mongodb';
  readonly traits = TRAITS;
  readonly #db: MongoDb;
  readonly #lines: MongoCollection;
  readonly #changes: Changes;
  readonly #clock: Clock;
  /** The server's time less ours, ms, as of the last answer: too high by at most the way there, so never too strict. */
  #ahead?: number;
  #tidy?: Promise<unknown>;
  #asked?: Promise<void> | undefined;
  #isKnown = false;

  constructor(db: MongoDb, collection: string, clock: Clock) {
    this.#db = db;
    this.#lines = db.collection(collection, SURE);
    this.#changes = new Changes(this.#lines, clock);
    this.#clock = clock;
  }

  async attempt(claim: Claim): Promise<Attempt> {
    this.#tidyUp();
    const notAfter = this.#notAfter(claim);
    const document = await this.#change(claim.key, attempting(claim, notAfter), true, claim.within);
    return this.#judge(claim, document!, notAfter);
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

  /** Undefined when it came too late and changed nothing; the server's time is known then. */
  async #renew(claim: Claim): Promise<Renewal | undefined> {
    const notAfter = this.#notAfter(claim);
    const document = await this.#change(claim.key, renewing(claim, notAfter), false, claim.within);
    if (!document || !this.#judge(claim, document).granted) return 'gone';
    return notAfter && document.now > notAfter ? undefined : { validFor: claim.ttl };
  }

  async release({ key, id }: Handle, next?: Claim): Promise<Release> {
    const notAfter = next && this.#notAfter(next);
    const document = await this.#change(
      key,
      leaving({ id }, next, notAfter),
      next !== undefined,
      next?.within ?? LONGEST,
    );
    const freed = document?.freed ?? false;
    return next ? { freed, next: this.#judge(next, document!, notAfter) } : { freed };
  }

  async watch(claim: Claim, wake: (grant?: Grant) => void): Promise<AsyncDisposable> {
    const heard = (document?: LineDocument): void => {
      const place = document?.line?.find(({ id }) => id === claim.id);
      // Not a word about other people's changes. A hold that is there may be at its end, so the attempt that follows says.
      if (document && place && document.v === FORM && !this.#judge(claim, document).granted) return;
      wake();
    };
    const stop = await this.#changes.listen({ id: idOf(claim.key), heard });
    return { [Symbol.asyncDispose]: async () => stop() };
  }

  async *inspect(prefix: string, { exact = false }: Listing = {}): AsyncIterable<Standing> {
    const from = idOf(prefix);
    const lines = this.#lines.aggregate([
      { $match: { _id: exact ? { $eq: from } : { $gte: from } } },
      { $sort: { _id: 1 } },
      { $set: { now: '$$NOW' } },
    ]);
    for await (const found of lines) {
      const { _id, line, now, v } = found as LineDocument;
      if (!_id.startsWith(from)) break;
      if (v !== FORM) throw newer(keyOf(_id));
      const alive = line.filter(({ lapses }) => lapses > now);
      const holders = admitted(alive);
      for (const [position, { ticket, take, of, label, joined, lapses }] of alive.entries()) {
        yield {
          key: keyOf(_id),
          held: position < holders,
          position,
          ticket: BigInt(ticket.toString()),
          take,
          of,
          label,
          since: now.getTime() - joined.getTime(),
          remaining: lapses.getTime() - now.getTime(),
        };
      }
    }
  }

  async evict(key: string, ticket: bigint): Promise<boolean> {
    return (await this.#change(key, leaving({ ticket }), false, LONGEST))?.freed ?? false;
  }

  check(): Promise<Finding[]> {
    return check(this.#db);
  }

  async close(): Promise<void> {
    const limit = new Bell(this.#clock);
    void Promise.all([this.#tidy, this.#changes.close()]).then(limit.ring);
    await limit.sleep(LAST_WORD);
  }

  /** What the line means for a claim. */
  #judge(claim: Claim, { line, now }: LineDocument, notAfter?: Date): Attempt {
    const index = line.findIndex(({ id }) => id === claim.id);
    const ahead = index < 0 ? line : line.slice(0, index);
    if (index < 0 && notAfter && now > notAfter) return { granted: false, late: true };
    if (index >= 0 && admitted(line) > index) {
      return { granted: true, ticket: BigInt(line[index]!.ticket.toString()), validFor: claim.ttl };
    }
    const retryAfter = Math.min(...ahead.map(({ lapses }) => lapses.getTime())) - now.getTime();
    return { granted: false, ahead: ahead.length, retryAfter };
  }

  /** The engine's time after which an attempt sent now is too late; unknown before the first answer. */
  #notAfter({ within }: Claim): Date | undefined {
    return this.#ahead === undefined ? undefined : new Date(Math.ceil(this.#clock.now() + this.#ahead + within));
  }

  /** One step on the server. The filter is `_id` alone: only then does the server itself repeat a lost race of two first-comers. */
  async #change(key: string, pipeline: Stage[], upsert: boolean, maxTimeMS: number): Promise<LineDocument | undefined> {
    const known = this.#known();
    if (known) await known;
    const run = async (): Promise<LineDocument | undefined> => {
      const sent = this.#clock.now();
      const options = {
        upsert,
        returnDocument: 'after',
        includeResultMetadata: false,
        maxTimeMS: Math.ceil(maxTimeMS), // the server refuses fractions
      };
      const document = (await this.#lines.findOneAndUpdate(
        { _id: idOf(key) },
        pipeline,
        options,
      )) as LineDocument | null;
      if (!document) return undefined;
      if (document.v !== FORM) throw newer(key);
      this.#ahead = document.now.getTime() - sent;
      return document;
    };
    try {
      return await run().catch((error: unknown) => {
        if (!isDuplicate(error)) throw error;
        return run();
      });
    } catch (error) {
      throw refusal(error);
    }
  }

  /**
   * Before anything is written: whether this is a MongoDB at all.
   * @throws LockError `LOCK_UNSUPPORTED`
   */
  #known(): Promise<void> | undefined {
    if (this.#isKnown) return undefined;
    this.#asked ??= refuseLookalikes(this.#db, LONGEST).then(
      () => {
        this.#isKnown = true;
      },
      (error: unknown) => {
        this.#asked = undefined;
        throw refusal(error);
      },
    );
    return this.#asked;
  }

  /** The index by which the server removes idle documents. Without the right to make it they stay, which harms nobody. */
  #tidyUp(): void {
    const options = { name: 'holdfast_idle', expireAfterSeconds: KEPT };
    this.#tidy ??= this.#lines.createIndex({ idle: 1 }, options).catch(() => undefined);
  }
}

const newer = (key: string): LockError =>
  new LockError(
    'LOCK_UNAVAILABLE',
    'a newer version of holdfast wrote this key in MongoDB, in a form this version cannot read; upgrade this one',
    { key, backend: 'mongodb' },
  );
