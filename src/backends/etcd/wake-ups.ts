import type { Client } from './client.ts';
import type { Stream } from './grpc.ts';
import { NO_PUTS, WatchRequest, WatchResponse } from './messages.ts';
import { decode, encode, type Received } from './protobuf.ts';

export interface Wanted {
  readonly key: Buffer;
  readonly rangeEnd?: Buffer;
  /** Writes too, not only deletions. */
  readonly puts: boolean;
  /** The first revision that is news. */
  readonly from: bigint;
}

/** Many watches over one stream. Each fires once: at the first change, or when it can no longer be trusted to. */
export class Watches {
  readonly #client: Client;
  readonly #watchers = new Map<bigint, () => void>();
  #stream?: Promise<Stream>;
  #last = 0n;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Resolves with what ends it, as soon as the request is on its way: since it names the first revision that is news, the
   * server will tell of that one however late it reads this. `fired` may come first.
   */
  async watch({ key, rangeEnd, puts, from }: Wanted, fired: () => void): Promise<() => void> {
    this.#stream ??= this.#open();
    const stream = await this.#stream;
    const watchId = ++this.#last;
    const filters = puts ? undefined : NO_PUTS;
    this.#watchers.set(watchId, fired);
    stream.write(encode(WatchRequest, { create: { key, rangeEnd, startRevision: from, filters, watchId } }));
    return () => {
      if (this.#watchers.delete(watchId)) stream.write(encode(WatchRequest, { cancel: { watchId } }));
    };
  }

  async close(): Promise<void> {
    (await this.#stream?.catch(() => undefined))?.close();
  }

  #open(): Promise<Stream> {
    const opened: Promise<Stream> = this.#client.watchStream({
      message: (message) => this.#receive(opened, decode(WatchResponse, message)),
      end: () => this.#ended(opened),
    });
    opened.catch(() => this.#ended(opened));
    return opened;
  }

  #receive(stream: Promise<Stream>, { watchId, created, canceled, events }: Received<typeof WatchResponse>): void {
    if (!canceled && events.length === 0) return;
    const fired = this.#watchers.get(watchId);
    this.#watchers.delete(watchId);
    fired?.();
    if (!canceled) void stream.then(({ write }) => write(encode(WatchRequest, { cancel: { watchId } })));
    else if (created) {
      // It never began, so this is not the answer to our own cancelling. Not allowed, as far as the token goes that this stream
      // began with: begin another, with a new one.
      this.#client.forgetToken();
      this.#ended(stream);
      void stream.then(({ close }) => close());
    }
  }

  /** Whatever happened meanwhile went unseen: everyone has to look. */
  #ended(stream: Promise<Stream>): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    const watchers = [...this.#watchers.values()];
    this.#watchers.clear();
    for (const fired of watchers) fired();
  }
}
