import { CALL_TIMEOUT_MS, type Clock, LockError, onceFor, type QueueEntry } from '../../core/index.ts';
import { ServerClock } from '../shared/server-clock.ts';
import { FORM, idOf, keyOf, type QueueRecord, queueOf } from './documents.ts';
import type { MongoCollection, MongoDb } from './driver.ts';
import { codeOf, refusal } from './errors.ts';
import type { Stage } from './pipeline.ts';

/** How long a document is kept after its last use, s: longer than a server's clock usually goes back. */
const IDLE_SECONDS = 86_400;
/** Two clients made the document at once, and the other client was first. */
const DUPLICATE_KEY = 11_000;

/** The documents of all keys. Each change is one step on the server, and the answer has the server's time. */
export class Queues {
  readonly #db: MongoDb;
  readonly #collection: MongoCollection;
  readonly #clock: Clock;
  readonly #serverClock: ServerClock;
  /**
   * Asks once what the server is, and what its clock shows. The first write waits for the answer.
   * @throws LockError `LOCK_UNSUPPORTED`
   */
  readonly kind: () => Promise<ServerKind> = onceFor(() => {
    const sent = this.#clock.now();
    return serverKind(this.#db, (time) => this.#serverClock.learn(time.getTime(), sent));
  });
  #indexed = false;

  constructor(db: MongoDb, collection: MongoCollection, clock: Clock) {
    this.#db = db;
    this.#collection = collection;
    this.#clock = clock;
    this.#serverClock = new ServerClock(clock);
  }

  /** The time of the server after which a request that is sent now is too late; undefined if the server has not told its time. */
  async notAfter(within: number): Promise<Date | undefined> {
    const sent = this.#clock.now();
    await this.kind().catch((error: unknown) => Promise.reject(refusal(error)));
    const time = this.#serverClock.in(within, sent);
    return time === undefined ? undefined : new Date(Math.ceil(time));
  }

  /** Makes the index by which the server removes idle documents. Without the right to make the index they stay, which does no harm. */
  index(): void {
    if (this.#indexed) return;
    this.#indexed = true;
    this.#collection
      .createIndex({ idle: 1 }, { name: 'holdfast_idle', expireAfterSeconds: IDLE_SECONDS })
      .catch((error: unknown) => {
        this.#indexed = codeOf(error) !== undefined; // without a code, no server has answered: the next attempt asks again
      });
  }

  /** @returns undefined where there is no document; with `upsert` a missing document is made */
  async change(
    key: string,
    pipeline: Stage[],
    within = CALL_TIMEOUT_MS,
    upsert = false,
  ): Promise<QueueRecord | undefined> {
    try {
      await this.kind();
      const send = (): Promise<QueueRecord | undefined> => this.#send(key, pipeline, within, upsert);
      // If several upserts make the document at once, all but one fail. From 5.0 on the server repeats them by itself, if the filter is `_id`
      // alone. 4.4 never repeats a findAndModify (4,442 of 40,000 first attempts failed), so the lock needs this repetition.
      return await send().catch((error: unknown) => {
        if (codeOf(error) !== DUPLICATE_KEY) throw error;
        return send();
      });
    } catch (error) {
      throw refusal(error);
    }
  }

  async #send(key: string, pipeline: Stage[], within: number, upsert: boolean): Promise<QueueRecord | undefined> {
    const sent = this.#clock.now();
    const maxTimeMS = Math.ceil(within); // the server refuses fractions
    const options = { upsert, returnDocument: 'after', includeResultMetadata: false, maxTimeMS };
    const answer = await this.#collection.findOneAndUpdate({ _id: idOf(key) }, pipeline, options);
    const document = known(answer as QueueRecord | null);
    if (document) this.#serverClock.learn(document.now.getTime(), sent);
    return document;
  }

  /** Reads what a majority has: a fail-over may undo what only the primary has. */
  async look(key: string) {
    const pipeline = [{ $match: { _id: { $eq: idOf(key) } } }, { $set: { now: { $max: ['$$NOW', '$now'] } } }];
    const found = this.#collection.aggregate(pipeline, { readConcern: { level: 'majority' } });
    for await (const document of found as AsyncIterable<QueueRecord>) return queueOf(known(document)!).look();
    return undefined;
  }

  /** The keys that begin with `prefix` and have a value, or that had holds which stored no value. */
  async *keys(prefix: string): AsyncIterable<string> {
    const fields = { value: { until: 1 }, attempts: { counts: 1 } };
    for await (const { _id, value, attempts, now } of this.#all(prefix, false, fields))
      if ((value && value.until > now) || (attempts && attempts.counts > now)) yield keyOf(_id);
  }

  async *inspect(prefix: string, exact: boolean): AsyncIterable<QueueEntry> {
    for await (const document of this.#all(prefix, exact, { value: 0, attempts: 0 }))
      yield* queueOf(known(document)!).entries(keyOf(document._id));
  }

  async *#all(prefix: string, exact: boolean, fields: object): AsyncIterable<QueueRecord> {
    const from = idOf(prefix);
    const found = this.#collection.aggregate([
      { $match: { _id: exact ? { $eq: from } : { $gte: from } } },
      { $project: fields },
      { $sort: { _id: 1 } },
      { $set: { now: '$$NOW' } },
    ]);
    for await (const document of found as AsyncIterable<QueueRecord>) {
      if (!document._id.startsWith(from)) return;
      yield document;
    }
  }
}

/** @throws LockError `LOCK_UNAVAILABLE` for a document in a form that this version does not know */
function known(document: QueueRecord | null): QueueRecord | undefined {
  if (!document || document.v === FORM) return document ?? undefined;
  const message =
    'a newer version of holdfast wrote this key in MongoDB, in a form this version cannot read; upgrade this one';
  throw new LockError('LOCK_UNAVAILABLE', message, { key: keyOf(document._id), backend: 'mongodb' });
}

/** Unauthorized, AuthenticationFailed, CommandNotFound: the server answers, and does not say what it is. */
const ANONYMOUS: ReadonlySet<unknown> = new Set([13, 18, 59]);

/** The name of another product, if the answers show one; undefined for MongoDB, and for a product that shows no trace. */
function lookalike({ buildInfo, hello }: Record<'buildInfo' | 'hello', Record<string, unknown>>): string | undefined {
  // https://docs.ferretdb.io/
  if (Object.keys(buildInfo).some((name) => /^ferretdb/i.test(name))) return 'FerretDB';
  const versions = [buildInfo, hello].flatMap(({ internal }) => Object.keys((internal as object | undefined) ?? {}));
  // https://github.com/documentdb/documentdb, and Azure's service, which it comes from
  if (versions.some((name) => /^(documentdb|cosmos)_versions$/.test(name))) return 'DocumentDB';
  return undefined;
}

/** A router (`mongos`) gives its own time, and delays the changes of a stream. */
type ServerKind = 'member' | 'router';

/**
 * Refuses products whose upsert by `_id` overwrites a document that another client has just made: then both clients would hold.
 * @throws LockError `LOCK_UNSUPPORTED`
 */
async function serverKind(db: MongoDb, onTime: (time: Date) => void): Promise<ServerKind> {
  const ask = (command: object): Promise<Record<string, unknown>> =>
    db.command({ ...command, maxTimeMS: CALL_TIMEOUT_MS }).catch((error: unknown) => {
      if (!ANONYMOUS.has(codeOf(error))) throw error;
      return {};
    });
  const [buildInfo, hello] = await Promise.all([ask({ buildInfo: 1 }), ask({ hello: 1 })]);
  if (hello.localTime instanceof Date) onTime(hello.localTime);
  const name = lookalike({ buildInfo, hello });
  if (!name) return hello.msg === 'isdbgrid' ? 'router' : 'member';
  const message = `mongodb() was given ${name}, which speaks MongoDB's protocol: of two that make the same document at once it lets the second write over the first, so both would hold. Use MongoDB, or postgres() on the PostgreSQL below it`;
  throw new LockError('LOCK_UNSUPPORTED', message, { backend: 'mongodb' });
}
