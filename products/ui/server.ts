import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locks } from '../../src/locks.ts';
import { checkTraceUrl, HEADERS, judge, refusalPage } from './guard.ts';
import { Access } from './listing.ts';
import { LivePage } from './live-page.ts';
import type { Pace } from './pace.ts';
import type { ReleaseOrder } from './wire.ts';

interface PageOptions {
  /** Opens the engine; called again after each failure. */
  readonly open: () => Promise<Locks>;
  /** The address of the engine, without a password. */
  readonly engine: string;
  /** Only keys that begin with this text. */
  readonly prefix: string;
  readonly pace: Pace;
  /** The port of the page; 0: any free port. */
  readonly port: number;
  /** Called for each evicted holder. Without this function the page changes nothing. */
  readonly released?: (order: ReleaseOrder) => void;
  /** Called for each memo that was forgotten. */
  readonly forgot?: (key: string) => void;
  /** The address of a trace, with `{traceId}` in it. */
  readonly traceUrl?: string | undefined;
}

/** The page of one engine, at 127.0.0.1. */
export class PageServer {
  readonly #port: number;
  readonly #token = randomBytes(18).toString('base64url');
  readonly #access: Access;
  readonly #page: LivePage;
  readonly #server: Server;

  constructor({ open, port, traceUrl, ...options }: PageOptions) {
    this.#port = port;
    this.#access = new Access(open);
    const readOnly = 'the page was started without --allow-release';
    if (traceUrl !== undefined) checkTraceUrl(traceUrl);
    this.#page = new LivePage({ access: this.#access, readOnly, traceUrl, ...options });
    this.#server = createServer(
      (request, response) => void this.#answer(request, response).catch(() => response.destroy()),
    );
  }

  /** The engine of the page. @throws LockError as `connect` does */
  engine(): Promise<Locks> {
    return this.#access.locks();
  }

  /** @returns the address of the page, with its token. @throws Node's error if the port is not available */
  async listen(): Promise<string> {
    await this.#page.assets();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/${this.#token}/`;
  }

  /** Ends all open pages at once, and closes the engine. */
  close(): Promise<void> {
    this.#page.end();
    this.#server.close();
    this.#server.closeAllConnections();
    return this.#access.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const { method = '', url = '', headers } = request;
    const verdict = judge({ method, url, headers }, this.#token);
    if (verdict.allowed) return this.#page.answer(verdict, request, response);
    response.writeHead(verdict.status, { 'Content-Type': 'text/html; charset=utf-8' }).end(refusalPage(verdict.why));
  }
}
