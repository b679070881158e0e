import { LockError } from '../../../core/index.ts';
import {
  type GrpcChannel,
  GrpcError,
  isStatus,
  type Metadata,
  STATUS,
  type Stream,
  type StreamListener,
} from './grpc.ts';
import {
  AUTHENTICATE,
  type EtcdTransaction,
  type GrpcMethod,
  type KeyValue,
  RANGE,
  type Range,
  type RangeAnswer,
  type TransactionAnswer,
  TXN,
} from './messages.ts';
import { decode, encode, type IncomingMessage, type OutgoingMessage, type Schema } from './protobuf.ts';

export interface EtcdCredentials {
  readonly user: string;
  readonly password: string;
}

/** The names from `from` up to, but not including, `to`. */
export type Span = readonly [from: Buffer, to: Buffer];

/** How many keys one call of a listing asks for. */
const PAGE = 1_000n;

/** With this header, a member without a leader refuses the call at once; otherwise the call would hang. */
const REQUIRE_LEADER: Metadata = { hasleader: 'true' };

export class Client {
  readonly #channel: GrpcChannel;
  readonly #credentials: EtcdCredentials | undefined;
  readonly #timeout: number;
  #token?: Promise<string>;
  #term = 0n;

  /** @param timeout default limit of a call, ms */
  constructor(channel: GrpcChannel, credentials: EtcdCredentials | undefined, timeout: number) {
    this.#channel = channel;
    this.#credentials = credentials;
    this.#timeout = timeout;
  }

  get authenticated(): boolean {
    return this.#credentials !== undefined;
  }

  /** The highest term in an answer to a transaction or a range; 0 before the first answer. It grows with each election of a leader. */
  get term(): bigint {
    return this.#term;
  }

  async txn(request: EtcdTransaction, ms?: number): Promise<TransactionAnswer> {
    return this.#noteTerm(await this.call(TXN, request, ms));
  }

  async range(request: Range, ms?: number): Promise<RangeAnswer> {
    return this.#noteTerm(await this.call(RANGE, request, ms));
  }

  /** All keys of these spans, sorted by name, as of one revision. With `namesOnly`, the keys have no values, and each page its own revision. */
  async *all(spans: readonly Span[], namesOnly = false): AsyncIterable<KeyValue> {
    let revision = 0n;
    for (const [from, rangeEnd] of spans) {
      let key = from;
      for (let more = true; more; ) {
        const page = await this.range({ key, rangeEnd, limit: PAGE, revision, keysOnly: namesOnly });
        yield* page.kvs;
        if (!namesOnly) revision ||= page.header!.revision;
        more = page.more;
        if (more) key = Buffer.concat([page.kvs.at(-1)!.key, Buffer.from([0])]);
      }
    }
  }

  async watchStream(listener: StreamListener): Promise<Stream> {
    return this.#channel.stream('/etcdserverpb.Watch/Watch', await this.#metadata(), listener);
  }

  /** Forgets a refused token, so that the next call asks for a new one. */
  forgetToken(): void {
    this.#token = undefined;
  }

  close(): void {
    this.#channel.close();
  }

  async call<Q extends Schema, R extends Schema>(
    call: GrpcMethod<Q, R>,
    message: OutgoingMessage<Q>,
    ms = this.#timeout,
  ): Promise<IncomingMessage<R>> {
    const send = async () => this.#send(call, message, await this.#metadata(), ms);
    try {
      return await send().catch((error: unknown) => {
        if (!this.#credentials || !isStale(error)) throw error;
        this.forgetToken(); // a call with a refused token has no effect, so it may be sent again
        return send();
      });
    } catch (error) {
      throw refusal(error);
    }
  }

  #noteTerm<T extends Pick<RangeAnswer, 'header'>>(answer: T): T {
    if (answer.header && answer.header.term > this.#term) this.#term = answer.header.term;
    return answer;
  }

  async #send<Q extends Schema, R extends Schema>(
    { path, request, response }: GrpcMethod<Q, R>,
    message: OutgoingMessage<Q>,
    metadata: Metadata,
    ms: number,
  ): Promise<IncomingMessage<R>> {
    return decode(response, await this.#channel.unary(path, encode(request, message), metadata, ms));
  }

  async #metadata(): Promise<Metadata> {
    if (!this.#credentials) return REQUIRE_LEADER;
    this.#token ??= this.#authenticate(this.#credentials);
    const token = await this.#token.catch((error: unknown) => {
      this.forgetToken();
      throw error;
    });
    return token === '' ? REQUIRE_LEADER : { ...REQUIRE_LEADER, token };
  }

  async #authenticate({ user, password }: EtcdCredentials): Promise<string> {
    try {
      return (await this.#send(AUTHENTICATE, { name: user, password }, REQUIRE_LEADER, this.#timeout)).token;
    } catch (error) {
      // The cluster has no authentication (yet): calls need no token.
      if (isStatus(error, STATUS.failedPrecondition)) return '';
      throw error;
    }
  }
}

const LARGER = 'raise `--max-request-bytes` of the servers, or put less at a time';
/** Definite refusals, by status and text of the error, with advice. */
const ADVICE: readonly (readonly [status: number, words: RegExp, advice: string])[] = [
  [STATUS.invalidArgument, /too many operations/, 'raise `--max-txn-ops` of the servers, or ask for less at a time'],
  [STATUS.invalidArgument, /too large/, LARGER],
  [STATUS.invalidArgument, /(?:)/, 'check user and password'],
  [STATUS.permissionDenied, /(?:)/, 'the user needs to read and write the keys that begin with the prefix and a slash'],
  [STATUS.resourceExhausted, /space exceeded/, 'compact and defragment it, then disarm the alarm'],
  [STATUS.resourceExhausted, /received message larger/, LARGER],
  [STATUS.unauthenticated, /(?:)/, 'check user and password'],
  [STATUS.unimplemented, /(?:)/, 'version 3.4 or later is needed'],
];

/** A definite refusal becomes a `LockError`. Any other error, whose outcome is unknown, stays as it is. */
function refusal(error: unknown): unknown {
  if (!(error instanceof GrpcError)) return error;
  const advice = ADVICE.find(([status, words]) => status === error.status && words.test(error.message))?.[2];
  if (!advice) return error;
  const message = `etcd refused: ${error.message}; ${advice}`;
  return new LockError('LOCK_UNAVAILABLE', message, { backend: 'etcd', cause: error });
}

/** A token ends after minutes without use, when its member restarts, and when a user or a role is changed. */
const isStale = (error: unknown): boolean =>
  error instanceof GrpcError &&
  (error.status === STATUS.unauthenticated || /auth store is old|user name is empty/.test(error.message));
