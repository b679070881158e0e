import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkNames, flag, invalid, namesOf, shown } from '../../src/core/index.ts';
import { type Locks, runtimeOf } from '../../src/locks.ts';
import { checkTraceUrl, HEADERS, judgeMounted, refusalPage } from './guard.ts';
import { Access } from './listing.ts';
import { LivePage } from './live-page.ts';
import { DEFAULT_TIME_PART, MIN_PAUSE_MS } from './pace.ts';
import { Recorder } from './recorder.ts';
import type { ReleaseOrder } from './wire.ts';

/** Options of `uiHandler`. */
export interface UiHandlerOptions {
  /** Default true: the page changes nothing. With false, a user can evict a holder, giving a reason, and forget a memo. */
  readonly readOnly?: boolean;
  /** Called after each eviction, for your log. `request` is the user's request, with your login. Needs `readOnly: false`. */
  readonly released?: (order: ReleaseOrder, request: IncomingMessage) => void;
  /**
   * The path at which the page is mounted, such as `/locks`. Fastify and `node:http` need this option; Express and Nest pass the
   * path themselves. Default: none.
   */
  readonly path?: string;
  /** Only keys that begin with this text. Default: all. */
  readonly prefix?: string;
  /** Called after the page has made the engine forget a memo, for your log. Needs `readOnly: false`. */
  readonly forgot?: (key: string, request: IncomingMessage) => void;
  /**
   * The address of a trace, with `{traceId}` in it, such as `https://traces.example/trace/{traceId}`. The page then links traced holders
   * (`holdfast/otel`) to their traces. Default: no links.
   */
  readonly traceUrl?: string;
}

/** Answers requests for the page and for its parts. */
export interface UiHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  /** Ends the history, and the connections of open pages, so that the server can close. The locks stay open. */
  close(): void;
}

const OPTIONS = namesOf<UiHandlerOptions>({
  ...{ readOnly: true, released: true, forgot: true },
  ...{ path: true, prefix: true, traceUrl: true },
});

/** What Express and Nest add to a request. */
interface MountedRequest {
  readonly baseUrl?: unknown;
  readonly originalUrl?: unknown;
}

/** The rest of an address after the path of the page; undefined if the address does not begin with that path. */
const below = (mount: string, url: string): string | undefined =>
  url.startsWith(mount) && /^([/?]|$)/.test(url.slice(mount.length)) ? url.slice(mount.length) : undefined;

/**
 * The page of `holdfast ui`, to mount into a service behind your login: it has none. Other sites can only link to the page, and cannot
 * frame it. It asks the engine only while a user has it open. From this call on, it keeps the last thousand holds of this process, and the
 * last thousand losses, failed waits and evictions: `holdfast history` reads them.
 * @throws LockError `LOCK_INVALID`
 * @example
 * const page = uiHandler(locks); // app.use('/locks', login, page);
 * page.close(); // at the end, before server.close()
 */
export function uiHandler(locks: Locks, options: UiHandlerOptions = {}): UiHandler {
  checkNames(options, OPTIONS, 'the options of uiHandler()');
  const { readOnly = true, released = () => {}, forgot, path = '', prefix = '', traceUrl } = options;
  if (!/^(\/[^/?#]+)*$/.test(path))
    throw invalid(`path is ${shown(path)}; it must be like '/locks', without a slash at its end`);
  const runtime = runtimeOf(locks, 'uiHandler()');
  const page = new LivePage({
    access: new Access(async () => locks),
    engine: runtime.engine.backend.name,
    prefix,
    pace: { least: MIN_PAUSE_MS, share: DEFAULT_TIME_PART },
    released: flag(readOnly, 'readOnly') ? undefined : released,
    forgot,
    recorder: new Recorder(runtime.number, prefix),
    traceUrl: traceUrl === undefined ? undefined : checkTraceUrl(traceUrl),
    readOnly: 'the page is read-only; uiHandler(locks, { readOnly: false }) lets it evict and forget',
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const { baseUrl, originalUrl } = request as MountedRequest;
    const mount = typeof baseUrl === 'string' && baseUrl !== '' ? baseUrl : path;
    const url = below(mount, typeof originalUrl === 'string' ? originalUrl : (request.url ?? ''));
    if (url === undefined)
      return void response.writeHead(404).end('The page is not mounted here: see the option "path".');
    const { method = '', headers } = request;
    const verdict = judgeMounted({ method, url, headers });
    if (!verdict.allowed) {
      const type = { 'Content-Type': 'text/html; charset=utf-8' };
      return void response.writeHead(verdict.status, type).end(refusalPage(verdict.why));
    }
    // The page asks for its parts by relative addresses, so its own address ends in a slash.
    if (!url.startsWith('/')) return void response.writeHead(302, { Location: `${mount}/${url}` }).end();
    return page.answer(verdict, request, response);
  };
  return Object.assign(
    (request: IncomingMessage, response: ServerResponse): void =>
      void answer(request, response).catch(() => response.destroy()),
    { close: () => page.end() },
  );
}

/** The page of all locks, to mount into a web service of your own. */
export type { ReleaseOrder } from './wire.ts';
