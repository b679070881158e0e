import { createHash, timingSafeEqual } from 'node:crypto';
import { invalid, isLockError, shown } from '../../src/core/index.ts';
import type { Locks } from '../../src/locks.ts';
import type { ForgetAnswer, ReleaseAnswer, ReleaseOrder } from './wire.ts';

/** The parts of a request that decide whether it gets an answer. */
interface RequestHead {
  readonly method: string;
  /** The path and the query of the request. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The path of the request after the token or the mount path; or why the request is refused. */
export type Verdict =
  | { readonly allowed: true; readonly path: string; readonly query: URLSearchParams }
  | { readonly allowed: false; readonly status: 403 | 405; readonly why: 'host' | 'token' | 'site' | 'method' };

/**
 * The local names of this machine, with any port, because a tunnel may use another port. A foreign name that resolves to this
 * machine does not match.
 */
const OURS = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;

const refusal = (why: 'host' | 'token' | 'site' | 'method'): Verdict => ({
  allowed: false,
  status: why === 'method' ? 405 : 403,
  why,
});

/**
 * Whether a request comes from our own page, or from a user with the page's address. Other pages of the same browser reach this
 * port, too. But they do not know the token, and their requests name a foreign origin or a foreign host name.
 */
export function judge(asked: RequestHead, token: string): Verdict {
  const host = one(asked.headers.host);
  if (!OURS.test(host)) return refusal('host');
  if (!METHODS.has(asked.method)) return refusal('method');
  const [path = '', query = ''] = asked.url.split('?', 2);
  const [, first = '', ...rest] = path.split('/');
  if (!same(first, token)) return refusal('token');
  const own = `http://${host}`.toLowerCase();
  return judgeSite(asked, rest.join('/'), query, (origin) => origin === own);
}

/**
 * Whether a request comes from our own page, if a service has mounted it behind a login. The login decides which user may ask,
 * the browser says which page asks. A proxy may have ended TLS, so the scheme of the origin is ignored.
 * @param asked `url` is the address after the path of the page, with its first slash
 */
export function judgeMounted(asked: RequestHead): Verdict {
  if (!METHODS.has(asked.method)) return refusal('method');
  const [path = '', query = ''] = asked.url.split('?', 2);
  const host = one(asked.headers.host).toLowerCase();
  const own = (origin: string): boolean =>
    one(asked.headers['sec-fetch-site']) === 'same-origin' || origin.replace(/^https?:\/\//, '') === host;
  return judgeSite(asked, path.replace(/^\//, ''), query, own);
}

const METHODS = new Set(['GET', 'HEAD', 'POST']);

/** The rules of both guards: other sites may only link to the page, and a POST request must name our own origin. */
function judgeSite(
  { method, headers }: RequestHead,
  path: string,
  query: string,
  isOwn: (origin: string) => boolean,
): Verdict {
  const reads = method !== 'POST';
  const origin = one(headers.origin).toLowerCase();
  const own = origin !== '' && isOwn(origin);
  if (origin !== '' && !own) return refusal('site');
  const site = one(headers['sec-fetch-site']);
  // Any site may link to the page. Only the page itself may ask for its other paths.
  const opens = reads && one(headers['sec-fetch-dest']) === 'document' && path === '';
  if (site !== '' && site !== 'same-origin' && site !== 'none' && !opens) return refusal('site');
  if (!reads && (!own || !/^application\/json\b/.test(one(headers['content-type'])))) return refusal('site');
  return { allowed: true, path, query: new URLSearchParams(query) };
}

const one = (header: string | readonly string[] | undefined): string => (typeof header === 'string' ? header : '');

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares in a time that does not depend on the token. */
const same = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token));

/**
 * The page may load files and data only from this server. No other page may show it in a frame, and no text becomes a script.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The headers of every answer. The page's address contains the token, so no cache may keep it, and no other site may get it. */
export const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cache-Control': 'no-store',
};

/** The longest reason, in characters. */
const MAX_REASON_LENGTH = 500;

/** What a request asks for, or what is wrong with the request. */
type Read<T> = T | { readonly wrong: string };

function read(body: string): Partial<ReleaseOrder> {
  try {
    return JSON.parse(body) ?? {};
  } catch {
    return {};
  }
}

const NO_KEY = { wrong: 'the key is missing: {"key": "…"}' };
const isKey = (key: unknown): key is string => typeof key === 'string' && key !== '';

/** Reads the key of a memo to forget. */
export function keyOf(body: string): Read<{ readonly key: string; readonly token?: undefined }> {
  const { key } = read(body);
  return isKey(key) ? { key } : NO_KEY;
}

/** Reads a request to evict a hold. */
export function orderOf(body: string): Read<ReleaseOrder> {
  const { key, token, reason } = read(body);
  if (!isKey(key)) return NO_KEY;
  if (typeof token !== 'string' || !/^\d{1,40}$/.test(token)) return { wrong: 'the token of the holder is missing' };
  if (typeof reason !== 'string' || reason.trim() === '') return { wrong: 'a reason is needed: it will be in the log' };
  return { key, token, reason: reason.trim().slice(0, MAX_REASON_LENGTH).toWellFormed() };
}

/** Evicts only the holder with this token, which the page has shown. A later holder keeps the key. */
export const release = (locks: Locks, { key, token, reason }: ReleaseOrder): Promise<ReleaseAnswer> =>
  orError(async () => ({ evicted: (await locks.forceRelease(key, { reason, token: BigInt(token) })) > 0 }));

/** Makes the engine forget a memo. */
export const forget = (locks: Locks, key: string): Promise<ForgetAnswer> =>
  orError(async () => ({ forgotten: await locks.memo(key).forget() }));

/** @throws LockError `LOCK_INVALID` if `url` is no http(s) address with `{traceId}` */
export function checkTraceUrl(url: string): string {
  if (typeof url === 'string' && /^https?:\/\/.*\{traceId\}/.test(url)) return url;
  throw invalid(`traceUrl is ${shown(url)}; it must be like 'https://traces.example/trace/{traceId}'`);
}

/** Returns a LockError as an answer. */
export async function orError<T>(act: () => Promise<T>): Promise<T | { readonly error: string }> {
  try {
    return await act();
  } catch (error) {
    if (isLockError(error)) return { error: error.message };
    throw error;
  }
}

const SENTENCES = {
  token: [
    'This page opens by its whole address',
    'Open the address that <code>holdfast ui</code> printed in its terminal. It ends in a random word, which is another one each time it is started.',
    '请使用完整的地址：<code>holdfast ui</code> 启动时在终端里打印的地址，末尾带有一个随机词；每次启动都不同。',
  ],
  host: [
    'This page is for this machine alone',
    'It answers to <code>127.0.0.1</code> and <code>localhost</code>, and to no other name. From another machine, use a tunnel: <code>ssh -L 8080:127.0.0.1:PORT host</code>, then open <code>http://127.0.0.1:8080/</code> with the rest of the address.',
    '本页只供本机使用：只接受 <code>127.0.0.1</code> 与 <code>localhost</code>。从其他机器访问请用 SSH 隧道。',
  ],
  site: [
    'Another site has asked for this',
    'Only the page itself may ask for what is behind it. Open the address that <code>holdfast ui</code> printed in its terminal.',
    '请求来自其他网站，已被拒绝。请直接打开 <code>holdfast ui</code> 在终端里打印的地址。',
  ],
  method: ['This is not how it is asked', 'There is nothing here for this kind of request.', '不支持这种请求。'],
} as const satisfies Record<(Verdict & { allowed: false })['why'], readonly [string, string, string]>;

/** A simple page that says why the request is refused, and what to do. The page contains nothing of the request. */
export function refusalPage(why: (Verdict & { allowed: false })['why']): string {
  const [title, english, chinese] = SENTENCES[why];
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>holdfast: ${title}</title>
<h1>${title}</h1><p>${english}</p><p lang="zh-Hans">${chinese}</p></html>
`;
}
