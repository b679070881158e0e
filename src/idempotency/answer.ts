import { gunzipSync, gzipSync } from 'node:zlib';
import { isLockError, type LockErrorCode } from '../core/index.ts';
import { Refused } from '../memo/encoding.ts';

/** An answer to a request, whole. */
export interface Answer {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Undefined: it has more than 512 KiB and cannot be kept. */
  readonly body: Buffer | undefined;
}

/** A longer body is not held back; compressed, less than that fills what an engine takes. */
export const MAX_BODY_BYTES = 524_288;
/** Says that an answer is that of an earlier request. */
export const REPLAYED = 'idempotent-replayed';

/**
 * Headers of one connection, one moment or one session: they are not kept. The length is counted again, and a cookie may be a secret,
 * or older than the one that the client has by now.
 */
const NOT_KEPT = new Set(
  'connection keep-alive transfer-encoding trailer upgrade date content-length set-cookie proxy-authenticate'.split(
    ' ',
  ),
);

/** The headers to keep: those that the handler has set or changed. */
export function keptHeaders(now: Answer['headers'], before: Readonly<Record<string, unknown>> = {}): Answer['headers'] {
  const kept = Object.entries(now).filter(([name, value]) => !NOT_KEPT.has(name) && `${before[name]}` !== `${value}`);
  return Object.fromEntries(kept);
}

/** @throws Refused for an answer that is too long */
export function packed({ status, headers, body }: Answer): string {
  if (!body) throw new Refused(`its body has more than ${MAX_BODY_BYTES} bytes`, undefined, 'LOCK_TOO_LARGE');
  return gzipSync(Buffer.concat([Buffer.from(`${JSON.stringify({ status, headers })}\n`), body])).toString('base64');
}

export function unpacked(text: string): Answer {
  const bytes = gunzipSync(Buffer.from(text, 'base64'));
  const end = bytes.indexOf('\n');
  return { ...JSON.parse(bytes.subarray(0, end).toString()), body: bytes.subarray(end + 1) };
}

/** A string of structured fields (RFC 9651, 3.3.3), as the draft has it, or its bare text, as most clients send it. */
const KEY = /^(?:"((?:[ !#-[\]-~]|\\["\\])+)"|([!#-+\--~]+))$/;
const MAX_KEY_LENGTH = 255;

/** The key in the header's value; undefined for none. Two headers, which arrive joined by a comma, are none. */
export function keyIn(header: unknown): string | undefined {
  const [, quoted, bare] = (typeof header === 'string' && KEY.exec(header)) || [];
  const key = quoted?.replace(/\\(.)/g, '$1') ?? bare;
  return key && key.length <= MAX_KEY_LENGTH ? key : undefined;
}

type Refusal = readonly [status: number, title: string, detail: string];
type RefusalName = LockErrorCode | 'missing' | 'malformed' | 'unread';

const DOWN: Refusal = [
  503,
  'Idempotency-Key cannot be looked up',
  'Nobody knows yet what came of this key. Try again.',
];
const UNKEPT: Refusal = [
  500,
  'The answer was not kept',
  'This request was done, and is not done again. Its answer is lost.',
];
const REFUSALS: Partial<Record<RefusalName, Refusal>> = {
  missing: [
    400,
    'Idempotency-Key is missing',
    'This operation needs the header Idempotency-Key, new for each request.',
  ],
  malformed: [
    400,
    'Idempotency-Key is malformed',
    `One header of 1 to ${MAX_KEY_LENGTH} visible ASCII characters is needed.`,
  ],
  unread: [415, 'The body cannot be compared', 'No parser of this route has read a body of this type.'],
  LOCK_TIMEOUT: [409, 'A request with this Idempotency-Key is outstanding', 'The first one still runs. Try again.'],
  LOCK_MISMATCH: [422, 'Idempotency-Key is already used', 'It was sent with another request. Use a new key.'],
  LOCK_POISONED: [503, 'This request failed too often', 'It is not begun again for a while.'],
  LOCK_UNAVAILABLE: DOWN,
  LOCK_CLOSED: DOWN,
  LOCK_TOO_LARGE: UNKEPT,
  LOCK_INVALID: UNKEPT,
};
/** These say that the same request may succeed later. */
const LATER = [409, 503];
const RETRY_AFTER_SECONDS = '1';

/** The answer to a request that is not run (RFC 9457); undefined for an error that is none of a memo. */
export function refusalFor(of: unknown, type: string | undefined): Answer | undefined {
  const name = isLockError(of) ? of.code : of;
  const [status, title, detail] = REFUSALS[name as RefusalName] ?? [];
  if (status === undefined) return undefined;
  const later = LATER.includes(status) && { 'retry-after': RETRY_AFTER_SECONDS };
  const body = Buffer.from(JSON.stringify({ type, title, status, detail }));
  return { status, headers: { 'content-type': 'application/problem+json', ...later }, body };
}
