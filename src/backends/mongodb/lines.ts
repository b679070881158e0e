import type { Clock } from '../../core/contract/clock.ts';
import { onceFor } from '../../core/contract/promises.ts';
import { ServerClock } from '../shared/server-clock.ts';
import type { LineDocument, MongoCollection, MongoDb } from './driver.ts';
import { isDuplicate, newer, refusal } from './errors.ts';
import { FORM, idOf, type Stage } from './pipeline.ts';
import { refuseLookalikes } from './server-kind.ts';

/** How long a document is kept after its last use, s. It outlasts any usual step back of a server's clock. */
const KEPT = 86_400;
/** The limit of a call without a limit of its own, ms. */
const LONGEST = 5_000;

/** The documents of all keys. Each change is one step on the server, and its answer has the server's time. */
export class Lines {
  readonly #db: MongoDb;
  readonly #collection: MongoCollection;
  readonly #clock: Clock;
  readonly #serverClock: ServerClock;
  /**
   * Before the first write: whether this is a real MongoDB.
   * @throws LockError `LOCK_UNSUPPORTED`
   */
  readonly #known = onceFor(() => refuseLookalikes(this.#db, LONGEST));
  #indexed: Promise<unknown> | undefined;

  constructor(db: MongoDb, collection: MongoCollection, clock: Clock) {
    this.#db = db;
    this.#collection = collection;
    this.#clock = clock;
    this.#serverClock = new ServerClock(clock);
  }

  /** After this server's time, a request that is sent now is too late. Unknown before the first answer. */
  notAfter(within: number): Date | undefined {
    const time = this.#serverClock.in(within);
    return time === undefined ? undefined : new Date(Math.ceil(time));
  }

  /** Makes the index by which the server removes idle documents. Without the right to make it they stay, which does no harm. */
  index(): void {
    const options = { name: 'holdfast_idle', expireAfterSeconds: KEPT };
    this.#indexed ??= this.#collection.createIndex({ idle: 1 }, options).catch(() => undefined);
  }

  /** Resolves when the index is made, or could not be made. */
  async ready(): Promise<void> {
    await this.#indexed;
  }

  /** Undefined where there is no document. With `upsert` a missing document is made. */
  async change(key: string, pipeline: Stage[], within = LONGEST, upsert = false): Promise<LineDocument | undefined> {
    try {
      await this.#known();
      const send = (): Promise<LineDocument | undefined> => this.#send(key, pipeline, within, upsert);
      return await send().catch((error: unknown) => {
        if (!isDuplicate(error)) throw error;
        return send();
      });
    } catch (error) {
      throw refusal(error);
    }
  }

  /** The filter is `_id` alone: only then does the server repeat the upsert that lost against another one. */
  async #send(key: string, pipeline: Stage[], within: number, upsert: boolean): Promise<LineDocument | undefined> {
    const sent = this.#clock.now();
    const maxTimeMS = Math.ceil(within); // the server refuses fractions
    const options = { upsert, returnDocument: 'after', includeResultMetadata: false, maxTimeMS };
    const answer = await this.#collection.findOneAndUpdate({ _id: idOf(key) }, pipeline, options);
    const document = answer as LineDocument | null;
    if (!document) return undefined;
    if (document.v !== FORM) throw newer(key);
    this.#serverClock.learn(document.now.getTime(), sent);
    return document;
  }
}
