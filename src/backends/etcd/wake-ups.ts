import type { Client } from './wire/client.ts';
import type { Stream } from './wire/grpc.ts';
import { NO_PUTS, WatchRequest, WatchResponse } from './wire/messages.ts';
import { endOf, listing } from './wire/ops.ts';
import { decode, encode, type IncomingMessage } from './wire/protobuf.ts';

interface WatchedLine {
  readonly key: Buffer;
  readonly rangeEnd?: Buffer;
  /** Also tell of writes, not only of deletions. */
  readonly puts: boolean;
  /** The first revision that is news. */
  readonly from: bigint;
}

/** Many watches over one stream. Each fires once: at the first change, or when the server may have missed one. */
export class Watches {
  readonly #client: Client;
  readonly #watchers = new Map<bigint, () => void>();
  #stream?: Promise<Stream>;
  #last = 0n;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Resolves as soon as the request is on its way, with the function that ends the watch. The request names the first revision that
   * is news, so the server tells of that one however late it reads the request. `fired` may be called first.
   */
  async watch({ key, rangeEnd, puts, from }: WatchedLine, fired: () => void): Promise<() => void> {
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

  /** Tells once of the next change of a line, or when the watch can no longer be trusted. */
  async onNextChange(line: Buffer, tell: () => void): Promise<AsyncDisposable> {
    const { header } = await this.#client.range({ ...listing(line), keysOnly: true, limit: 1n });
    const wanted = { key: line, rangeEnd: endOf(line), puts: true, from: header!.revision + 1n };
    const end = await this.watch(wanted, tell);
    return { [Symbol.asyncDispose]: async () => end() };
  }

  async close(): Promise<void> {
    (await this.#stream?.catch(() => undefined))?.close();
  }

  #open(): Promise<Stream> {
    const opened: Promise<Stream> = this.#client.watchStream({
      message: (message) => this.#receive(opened, decode(WatchResponse, message)),
      end: () => this.#endStream(opened),
    });
    opened.catch(() => this.#endStream(opened));
    return opened;
  }

  #receive(
    stream: Promise<Stream>,
    { watchId, created, canceled, events }: IncomingMessage<typeof WatchResponse>,
  ): void {
    if (!canceled && events.length === 0) return;
    const fired = this.#watchers.get(watchId);
    this.#watchers.delete(watchId);
    fired?.();
    if (!canceled) void stream.then(({ write }) => write(encode(WatchRequest, { cancel: { watchId } })));
    else if (created) {
      // The watch never began, so this does not answer our own cancel. The server refused the token that this stream began with: the
      // next stream gets a new token.
      this.#client.forgetToken();
      this.#endStream(stream);
      void stream.then(({ close }) => close());
    }
  }

  /** Changes may have gone unseen meanwhile, so every watcher is told to look. */
  #endStream(stream: Promise<Stream>): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    const watchers = [...this.#watchers.values()];
    this.#watchers.clear();
    for (const fired of watchers) fired();
  }
}
