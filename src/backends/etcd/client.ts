import { LockError } from '../../core/errors.ts';
import { type Channel, GrpcError, isStatus, type Listener, type Metadata, STATUS, type Stream } from './grpc.ts';
import {
  AlarmResponse,
  AuthenticateRequest,
  AuthenticateResponse,
  Empty,
  LeaseGrantRequest,
  LeaseRequest,
  LeaseResponse,
  MemberListResponse,
  RangeRequest,
  RangeResponse,
  StatusResponse,
  TimeToLiveResponse,
  TxnRequest,
  TxnResponse,
} from './messages.ts';
import { decode, encode, type Received, type Schema, type Sent } from './protobuf.ts';

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

interface Method<Q extends Schema, R extends Schema> {
  readonly path: string;
  readonly request: Q;
  readonly response: R;
}

const method = <Q extends Schema, R extends Schema>(path: string, request: Q, response: R): Method<Q, R> => ({
  path: `/etcdserverpb.${path}`,
  request,
  response,
});

const TXN = method('KV/Txn', TxnRequest, TxnResponse);
const RANGE = method('KV/Range', RangeRequest, RangeResponse);
const GRANT = method('Lease/LeaseGrant', LeaseGrantRequest, LeaseResponse);
const REVOKE = method('Lease/LeaseRevoke', LeaseRequest, Empty);
// Declared as a stream. One message each way is as good, and the server then serves many side by side.
const KEEP_ALIVE = method('Lease/LeaseKeepAlive', LeaseRequest, LeaseResponse);
const TIME_TO_LIVE = method('Lease/LeaseTimeToLive', LeaseRequest, TimeToLiveResponse);
const AUTHENTICATE = method('Auth/Authenticate', AuthenticateRequest, AuthenticateResponse);
const STATUS_OF = method('Maintenance/Status', Empty, StatusResponse);
const ALARMS = method('Maintenance/Alarm', Empty, AlarmResponse);
const MEMBERS = method('Cluster/MemberList', Empty, MemberListResponse);

/** A member without a leader says so at once, instead of letting the call hang. */
const REQUIRE_LEADER: Metadata = { hasleader: 'true' };

export class Client {
  readonly #channel: Channel;
  readonly #credentials: Credentials | undefined;
  readonly #timeout: number;
  #token?: Promise<string>;

  /** `timeout`: ms a call may take unless it says otherwise. */
  constructor(channel: Channel, credentials: Credentials | undefined, timeout: number) {
    this.#channel = channel;
    this.#credentials = credentials;
    this.#timeout = timeout;
  }

  get authenticated(): boolean {
    return this.#credentials !== undefined;
  }

  txn(request: Sent<typeof TxnRequest>, ms?: number): Promise<Received<typeof TxnResponse>> {
    return this.#call(TXN, request, ms);
  }

  range(request: Sent<typeof RangeRequest>, ms?: number): Promise<Received<typeof RangeResponse>> {
    return this.#call(RANGE, request, ms);
  }

  grant(seconds: bigint, ms?: number): Promise<Received<typeof LeaseResponse>> {
    return this.#call(GRANT, { ttl: seconds }, ms);
  }

  async revoke(id: bigint, ms?: number): Promise<void> {
    await this.#call(REVOKE, { id }, ms);
  }

  /** Seconds the lease is good for; 0 or less if it is gone. */
  async keepAlive(id: bigint, ms?: number): Promise<bigint> {
    return (await this.#call(KEEP_ALIVE, { id }, ms)).ttl;
  }

  timeToLive(id: bigint): Promise<Received<typeof TimeToLiveResponse>> {
    return this.#call(TIME_TO_LIVE, { id });
  }

  status(): Promise<Received<typeof StatusResponse>> {
    return this.#call(STATUS_OF, {});
  }

  alarms(): Promise<Received<typeof AlarmResponse>> {
    return this.#call(ALARMS, {});
  }

  members(): Promise<Received<typeof MemberListResponse>> {
    return this.#call(MEMBERS, {});
  }

  async watchStream(listener: Listener): Promise<Stream> {
    return this.#channel.stream('/etcdserverpb.Watch/Watch', await this.#metadata(), listener);
  }

  /** The token was refused, or the rights were changed since: a new one is asked for when next needed. */
  forgetToken(): void {
    this.#token = undefined;
  }

  close(): void {
    this.#channel.close();
  }

  async #call<Q extends Schema, R extends Schema>(
    call: Method<Q, R>,
    message: Sent<Q>,
    ms = this.#timeout,
  ): Promise<Received<R>> {
    try {
      return await this.#send(call, message, await this.#metadata(), ms);
    } catch (error) {
      if (!this.#credentials || !isStale(error)) throw refusal(error);
    }
    // Refused for its token, so without effect: safe to send again.
    this.forgetToken();
    try {
      return await this.#send(call, message, await this.#metadata(), ms);
    } catch (error) {
      throw refusal(error);
    }
  }

  async #send<Q extends Schema, R extends Schema>(
    { path, request, response }: Method<Q, R>,
    message: Sent<Q>,
    metadata: Metadata,
    ms: number,
  ): Promise<Received<R>> {
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

  async #authenticate({ user, password }: Credentials): Promise<string> {
    try {
      const credentials = { name: user, password };
      return (await this.#send(AUTHENTICATE, credentials, REQUIRE_LEADER, this.#timeout)).token;
    } catch (error) {
      // The cluster asks nobody who they are (yet): go on without a token.
      if (isStatus(error, STATUS.failedPrecondition)) return '';
      throw error;
    }
  }
}

/** Tokens end after minutes without use, with a restart of the member, and whenever a user or a role is changed. */
const isStale = (error: unknown): boolean =>
  error instanceof GrpcError &&
  (error.status === STATUS.unauthenticated || /auth store is old|user name is empty/.test(error.message));

/** Definite refusals, by status and words: what to do about each. */
const ADVICE: readonly (readonly [status: number, words: RegExp, advice: string])[] = [
  [STATUS.invalidArgument, /too many operations/, 'raise `--max-txn-ops` of the servers, or ask for less at a time'],
  [STATUS.invalidArgument, /too large/, 'raise `--max-request-bytes` of the servers, or put less at a time'],
  [STATUS.invalidArgument, /(?:)/, 'check user and password'],
  [STATUS.permissionDenied, /(?:)/, 'the user needs to read and write the keys that begin with the prefix and a slash'],
  [STATUS.resourceExhausted, /space exceeded/, 'compact and defragment it, then disarm the alarm'],
  [
    STATUS.resourceExhausted,
    /received message larger/,
    'raise `--max-request-bytes` of the servers, or put less at a time',
  ],
  [STATUS.unauthenticated, /(?:)/, 'check user and password'],
  [STATUS.unimplemented, /(?:)/, 'version 3.4 or later is needed'],
];

/** A definite no as holdfast's own error; anything else, whose outcome is unknown, as it is. */
function refusal(error: unknown): unknown {
  if (!(error instanceof GrpcError)) return error;
  const advice = ADVICE.find(([status, words]) => status === error.status && words.test(error.message))?.[2];
  if (!advice) return error;
  return new LockError('LOCK_UNAVAILABLE', `etcd refused: ${error.message}; ${advice}`, {
    backend: 'etcd',
    cause: error,
  });
}
