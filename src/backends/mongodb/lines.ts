import { type Clock, onceFor } from '../../core/index.ts';
import { ServerClock } from '../shared/server-clock.ts';
import type { LineDocument, MongoCollection, MongoDb } from './driver.ts';
import { isDuplicate, newer, refusal } from './errors.ts';
import { FORM, idOf, type Stage } from './pipeline.ts';
import { type ServerKind, serverKind } from './server-kind.ts';

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
   * Asked before the first write.
   * @throws LockError `LOCK_UNSUPPORTED`
   */
  readonly kind: () => Promise<ServerKind> = onceFor(() => serverKind(this.#db, LONGEST));
  #indexed = false;

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
    if (this.#indexed) return;
    this.#indexed = true;
    this.#collection
      .createIndex({ idle: 1 }, { name: 'holdfast_idle', expireAfterSeconds: KEPT })
      .catch(() => undefined);
  }

  /** Undefined where there is no document. With `upsert` a missing document is made. */
  async change(key: string, pipeline: Stage[], within = LONGEST, upsert = false): Promise<LineDocument | undefined> {
    try {
      await this.kind();
      const send = (): Promise<LineDocument | undefined> => this.#send(key, pipeline, within, upsert);
      // All but one of several upserts that make the document at once fail. From 5.0 on the server repeats them by itself, if the filter is
      // `_id` alone; 4.4 never repeats a findAndModify (4,442 of 40,000 first attempts came back), so the lock rests on this repetition.
      return await send().catch((error: unknown) => {
        if (!isDuplicate(error)) throw error;
        return send();
      });
    } catch (error) {
      throw refusal(error);
    }
  }

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
