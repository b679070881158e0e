import type { Cancel, Clock } from '../../core/index.ts';
import type { QueueRecord } from './documents.ts';
import type { MongoCollection, MongoStream } from './driver.ts';
import { codeOf, NO_CHANGE_STREAMS } from './errors.ts';

/** The pause between two looks if there are no change streams, and before a broken stream is opened again, ms. */
const POLL_MS = 250;
/** How long a stream without listeners stays open for the next listener, ms: to open and kill a stream costs two commands. */
const IDLE_MS = 1_000;

/** A waiter gets the value by an attempt. So the value is not sent to every process that listens. */
const WITHOUT_TEXT = [{ $project: { 'fullDocument.value.text': 0 } }];

export interface ChangeListener {
  readonly id: string;
  /** @param document the document after a change; undefined if it is not known, and the waiter must ask */
  onChange(document?: QueueRecord): void;
}

/** One change stream for all listeners of this process, open while it has listeners. */
export class Changes {
  readonly #collection: MongoCollection;
  readonly #clock: Clock;
  readonly #polls: boolean;
  readonly #listeners = new Set<ChangeListener>();
  #stream?: MongoStream;
  #opened: Promise<void> = Promise.resolve();
  #again?: Cancel;
  #idle?: Cancel;
  #unsupported = false;

  /** @param polls whether listeners are woken again and again where the server has no change streams */
  constructor(collection: MongoCollection, clock: Clock, polls = true) {
    this.#collection = collection;
    this.#clock = clock;
    this.#polls = polls;
  }

  /** From now on this opens no change stream: waiters ask again and again. */
  poll(): void {
    this.#unsupported = true;
  }

  /** Resolves when the stream is open, or cannot be opened, with the function that ends the listening. */
  async listen(listener: ChangeListener): Promise<() => void> {
    this.#listeners.add(listener);
    this.#idle?.();
    this.#open();
    await this.#opened;
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
      this.#idle = this.#clock.after(IDLE_MS, () => void this.#end(), true);
    };
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    await this.#end();
  }

  #open(): void {
    if (this.#stream || this.#again) return;
    if (this.#unsupported) {
      if (this.#polls) this.#later();
      return;
    }
    const stream = this.#collection.watch(WITHOUT_TEXT, { fullDocument: 'updateLookup' });
    this.#stream = stream;
    this.#opened = new Promise((resolve) => {
      // The first resume token comes with the answer that opens the stream. From then on the stream brings all changes.
      stream.on('resumeTokenChanged', resolve);
      stream.on('close', resolve);
      stream.on('error', () => resolve());
    });
    stream.on('change', (change) => this.#notify(change as Change));
    stream.on('error', (error) => {
      if (NO_CHANGE_STREAMS.has(codeOf(error))) this.#unsupported = true;
      this.#onBreak(stream);
    });
    // The driver reports the close before the error that caused it. So we wait: our own close in between would hide the error.
    stream.on('close', () => this.#clock.after(1, () => this.#onBreak(stream), true));
  }

  #notify({ documentKey, fullDocument }: Change): void {
    for (const listener of [...this.#listeners])
      if (documentKey?._id === listener.id) listener.onChange(fullDocument ?? undefined);
  }

  #onBreak(stream: MongoStream): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    stream.close().catch(() => undefined);
    if (this.#listeners.size > 0) this.#later();
  }

  /** After a pause, opens the stream again. Then it wakes every waiter, which may have missed changes until the stream was open. */
  #later(): void {
    this.#again = this.#clock.after(POLL_MS, async () => {
      this.#again = undefined;
      this.#open();
      await this.#opened;
      for (const listener of [...this.#listeners]) listener.onChange();
    });
  }

  async #end(): Promise<void> {
    this.#idle?.();
    this.#again?.();
    this.#again = undefined;
    const stream = this.#stream;
    this.#stream = undefined;
    await stream?.close().catch(() => undefined);
  }
}

interface Change {
  readonly documentKey?: { readonly _id: string };
  readonly fullDocument?: QueueRecord | null;
}
