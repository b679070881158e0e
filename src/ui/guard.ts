import { createHash, timingSafeEqual } from 'node:crypto';

/** What of a request decides whether it is answered. */
export interface Asked {
  readonly method: string;
  /** As it stands in the request: path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** What is asked for, behind the token; or why it is refused. */
export type Verdict =
  | { readonly allowed: true; readonly path: string; readonly query: URLSearchParams }
  | { readonly allowed: false; readonly status: 403 | 405; readonly why: 'host' | 'token' | 'site' | 'method' };

/** The names of this machine to itself, at whatever port: a tunnel may have another. A stranger's name that leads here is none of them. */
const OURS = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;

const refused = (why: 'host' | 'token' | 'site' | 'method'): Verdict => ({
  allowed: false,
  status: why === 'method' ? 405 : 403,
  why,
});

/**
 * Whether a request comes from our own page, or from whoever has its address. Other pages of the same browser reach this port too:
 * they do not know the token, their requests name their own origin, and a name of theirs that leads to this machine is not ours.
 */
export function judge({ method, url, headers }: Asked, token: string): Verdict {
  const host = one(headers.host);
  if (!OURS.test(host)) return refused('host');
  const reads = method === 'GET' || method === 'HEAD';
  if (!reads && method !== 'POST') return refused('method');
  const [path = '', query = ''] = url.split('?', 2);
  const [, first = '', ...rest] = path.split('/');
  if (!same(first, token)) return refused('token');
  const origin = one(headers.origin);
  const own = origin.toLowerCase() === `http://${host}`.toLowerCase();
  if (origin !== '' && !own) return refused('site');
  const site = one(headers['sec-fetch-site']);
  // A link to the page may stand anywhere; what the page itself asks for is asked for by it alone.
  const opens = reads && one(headers['sec-fetch-dest']) === 'document' && rest.join('') === '';
  if (site !== '' && site !== 'same-origin' && site !== 'none' && !opens) return refused('site');
  if (!reads && (!own || !/^application\/json\b/.test(one(headers['content-type'])))) return refused('site');
  return { allowed: true, path: rest.join('/'), query: new URLSearchParams(query) };
}

const one = (header: string | readonly string[] | undefined): string => (typeof header === 'string' ? header : '');

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** In a time that tells nothing of the token. */
const same = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token));
