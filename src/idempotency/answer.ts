import { gunzipSync, gzipSync } from 'node:zlib';
import { isLockError } from '../core/index.ts';
import { RefusedValue } from '../memo/encoding.ts';

/** A whole answer to a request. */
export interface Answer {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Undefined if the body is too long to be kept. */
  readonly body: Buffer | undefined;
}

/** The longest body that is kept, bytes. A compressed text of this length is about as long as an engine allows. */
export const MAX_BODY_BYTES = 524_288;
/** The header that marks the kept answer of an earlier request. */
export const REPLAYED = 'idempotent-replayed';
const MAX_KEY_LENGTH = 255;

/** Headers of one connection, moment or session. The length is computed again. A cookie may be a secret, or older than the client's cookie. */
const NEVER_KEPT =
  /^(connection|keep-alive|transfer-encoding|trailer|upgrade|date|content-length|set-cookie|proxy-authenticate)$/;

/** The headers to keep: those that the handler has set or changed. @param before all headers before the handler ran */
export function keptHeaders(now: object, before: object = {}): Answer['headers'] {
  const earlier = new Map(Object.entries(before));
  const kept = Object.entries(now).filter(([name, value]) => !NEVER_KEPT.test(name) && earlier.get(name) !== value);
  return Object.fromEntries(kept.map(([name, value]) => [name, Array.isArray(value) ? value : `${value}`]));
}

/** @throws RefusedValue for an answer that is too long */
export function packed({ status, headers, body }: Answer): string {
  if (!body) throw new RefusedValue(`has more than ${MAX_BODY_BYTES} bytes`, 'the body', 'LOCK_TOO_LARGE');
  return gzipSync(Buffer.concat([Buffer.from(`${JSON.stringify({ status, headers })}\n`), body])).toString('base64');
}

export function unpacked(text: string): Answer {
  const bytes = gunzipSync(Buffer.from(text, 'base64'));
  const end = bytes.indexOf('\n');
  return { ...JSON.parse(bytes.toString('utf8', 0, end)), body: bytes.subarray(end + 1) };
}

/** A quoted string (RFC 9651, 3.3.3), as the draft demands, or text without quotes, as most clients send it. */
const KEY = /^(?:"((?:[ !#-[\]-~]|\\["\\])+)"|([!#-+\--~]+))$/;

/** The key in the header; undefined if there is no valid one. Two headers arrive as one text with a comma, which is not valid. */
export function keyIn(header: unknown): string | undefined {
  const [, quoted, bare] = (typeof header === 'string' && KEY.exec(header)) || [];
  const key = quoted?.replace(/\\(.)/g, '$1') ?? bare;
  return key && key.length <= MAX_KEY_LENGTH ? key : undefined;
}

type Refusal = readonly [status: number, title: string, detail: string];

const DOWN: Refusal = [503, 'Idempotency-Key cannot be looked up', 'Nothing was done for this request. Try again.'];
const UNKEPT: Refusal = [500, 'The answer was not kept', 'The request was done, and is not done again.'];
/** The refusals, by what is wrong with the request or by the code of the memo's error. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  missing: [400, 'Idempotency-Key is missing', 'This operation needs the header, with a new key for each request.'],
  malformed: [400, 'Idempotency-Key is malformed', `It has 1 to ${MAX_KEY_LENGTH} visible ASCII characters, once.`],
  unread: [415, 'The body cannot be compared', 'No parser of this route has read a body of this type.'],
  LOCK_TIMEOUT: [409, 'A request with this Idempotency-Key is outstanding', 'It still runs. Try again.'],
  LOCK_MISMATCH: [422, 'Idempotency-Key is already used', 'It came with another request. Use a new key.'],
  LOCK_POISONED: [503, 'The request failed too often', 'It is not begun again for a while.'],
  LOCK_UNAVAILABLE: DOWN,
  LOCK_CLOSED: DOWN,
  LOCK_TOO_LARGE: UNKEPT,
  LOCK_INVALID: UNKEPT,
};

/**
 * Makes the answer to a request whose handler does not run (RFC 9457). @throws `why`, if `REFUSALS` has no entry for it
 * @param type the address of a page about the header
 */
export function refusalFor(why: unknown, type: string | undefined): Answer {
  const refusal = REFUSALS[isLockError(why) ? why.code : String(why)];
  if (!refusal) throw why;
  const [status, title, detail] = refusal;
  const later = [409, 503].includes(status) && { 'retry-after': '1' };
  const body = Buffer.from(JSON.stringify({ type, title, status, detail }));
  return { status, headers: { 'content-type': 'application/problem+json', ...later }, body };
}
