import type { IncomingHttpHeaders } from 'node:http';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type SecureClientSessionOptions } from 'node:http2';
import { type Clock, inMs } from '../../../core/index.ts';

/**
 * gRPC over Node's own HTTP/2 (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md): calls with one message each way, and
 * streams. There is one connection at a time, to one member. A connection that fails or does not answer is destroyed, so that nothing
 * that waits in it can still be sent. The next call goes to the next member.
 */
export const STATUS = {
  ok: 0,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** The server answered with an error, or did not answer. The text of the error never has a key, an id or an address of ours. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const isStatus = (error: unknown, status: number): boolean =>
  error instanceof GrpcError && error.status === status;

export interface Stream {
  write(message: Buffer): void;
  close(): void;
}

export type Metadata = Readonly<Record<string, string>>;

export class GrpcChannel {
  readonly #urls: readonly URL[];
  readonly #tls: SecureClientSessionOptions;
  readonly #connectMs: number;
  readonly #clock: Clock;
  #turn = 0;
  #session?: ClientHttp2Session;
  #connecting?: Promise<ClientHttp2Session>;
  #closed = false;

  /** @param connectMs the limit of connecting, ms: each member gets an equal part of it */
  constructor(urls: readonly URL[], tls: SecureClientSessionOptions, connectMs: number, clock: Clock) {
    this.#urls = urls;
    this.#tls = tls;
    this.#connectMs = connectMs;
    this.#clock = clock;
  }

  /** One message each way, within `ms` (and the time to connect, if there is no connection yet). */
  async unary(path: string, message: Buffer, metadata: Metadata, ms: number): Promise<Buffer> {
    const session = await this.#connection();
    return new Promise((resolve, reject) => {
      let answer: Buffer | undefined;
      const stream = exchange(session, path, metadata, {
        message: (received) => {
          answer = received;
        },
        end: (error) => {
          stop();
          // This member has no leader, or shuts down. Another member may answer.
          if (error?.status === STATUS.unavailable) this.#abandon(session);
          if (!error && answer) resolve(answer);
          else reject(error ?? new GrpcError(STATUS.unavailable, 'an answer without a message'));
        },
      });
      const stop = this.#clock.after(ms, () => {
        reject(new GrpcError(STATUS.deadlineExceeded, `no answer within ${inMs(ms)}`));
        this.#abandon(session);
      });
      stream.end(frame(message));
    });
  }

  /** A stream of messages both ways. The listener's `end` is called once, whichever side ends the stream. */
  async stream(path: string, metadata: Metadata, listener: StreamListener): Promise<Stream> {
    const stream = exchange(await this.#connection(), path, metadata, listener);
    return { write: (message) => void stream.write(frame(message)), close: () => stream.close() };
  }

  close(): void {
    this.#closed = true;
    this.#session?.destroy();
  }

  async #connection(): Promise<ClientHttp2Session> {
    if (this.#session) return this.#session;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** Tries every member once, starting with the one whose turn it is. */
  async #connect(): Promise<ClientHttp2Session> {
    let failure: unknown;
    for (let attempts = 0; attempts < this.#urls.length && !this.#closed; attempts++) {
      try {
        const session = await this.#dial(this.#urls[this.#turn % this.#urls.length]!);
        if (!this.#closed) {
          this.#session = session;
          return session;
        }
        session.destroy();
      } catch (error) {
        failure = error;
        this.#turn++;
      }
    }
    throw new GrpcError(STATUS.unavailable, this.#closed ? 'closed' : `no member can be reached: ${reason(failure)}`);
  }

  #dial(url: URL): Promise<ClientHttp2Session> {
    return new Promise((resolve, reject) => {
      const session = connect(url, this.#tls);
      const fail = (error: Error): void => {
        stop();
        reject(error);
        session.destroy();
      };
      const stop = this.#clock.after(this.#connectMs / this.#urls.length, () => fail(new Error('timed out')));
      session.on('error', fail); // not `once`: a later error without a listener would end the process
      // A server refuses our certificate only after the handshake. Then Node's session never reports its close, and leaves the socket open.
      session.once('connect', (_, socket) =>
        socket.once('error', (error) => {
          fail(error);
          socket.destroy();
        }),
      );
      // Only this shows that the member is alive: its operating system accepts connections even for a stopped process.
      session.once('remoteSettings', () => {
        stop();
        resolve(session);
      });
      session.on('goaway', () => this.#abandon(session));
      session.on('close', () => {
        fail(new Error('closed'));
        this.#abandon(session);
      });
    });
  }

  /** Destroys a connection. The next one goes to the next member. */
  #abandon(session: ClientHttp2Session): void {
    if (this.#session === session) {
      this.#session = undefined;
      this.#turn++;
    }
    session.destroy();
  }
}

export interface StreamListener {
  message(message: Buffer): void;
  end(error?: GrpcError): void;
}

function exchange(
  session: ClientHttp2Session,
  path: string,
  metadata: Metadata,
  listener: StreamListener,
): ClientHttp2Stream {
  const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...metadata };
  const stream = session.request(head);
  let status: number = STATUS.unavailable;
  let message = 'the connection was cut before the answer';
  const judge = (headers: IncomingHttpHeaders): void => {
    if (headers['grpc-status'] === undefined) return;
    status = Number(headers['grpc-status']);
    // This text is percent-encoded. We do not decode it: etcd's messages are ASCII, which the encoding hardly changes.
    message = String(headers['grpc-message'] ?? '');
  };
  stream.on('response', judge); // a refusal without a message has its status in these headers
  stream.on('trailers', judge);
  let pending: Buffer = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    for (;;) {
      const end = pending.length < PREFIX_BYTES ? Number.POSITIVE_INFINITY : PREFIX_BYTES + pending.readUInt32BE(1);
      if (pending.length < end) return;
      try {
        listener.message(pending.subarray(PREFIX_BYTES, end));
      } catch (error) {
        stream.destroy(error as Error);
        return;
      }
      pending = pending.subarray(end);
    }
  });
  stream.on('error', (error) => {
    status = STATUS.unavailable;
    message = reason(error);
  });
  stream.on('close', () => listener.end(status === STATUS.ok ? undefined : new GrpcError(status, message)));
  return stream;
}

/** Before each message: a byte that says "not compressed", and four bytes of length. */
const PREFIX_BYTES = 5;

function frame(message: Buffer): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** A failure in a word. The message of a system error has the address, which must not be shown. */
const reason = (error: unknown): string =>
  (error as { code?: string } | undefined)?.code ?? (error instanceof Error ? error.message : 'unknown');
