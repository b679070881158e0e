import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locks } from '../locks.ts';
import { Access } from './access.ts';
import { type Asset, assets } from './assets.ts';
import { Board } from './board.ts';
import { CloseUp } from './close-up.ts';
import { HEADERS, judge } from './guard.ts';
import { Hub } from './hub.ts';
import { ListingLoop, type Surroundings } from './listing.ts';
import { Loop } from './loop.ts';
import type { Pace } from './pace.ts';
import { orderOf, refusalPage, release } from './release.ts';
import { snapshot } from './view.ts';
import type { ReleaseAnswer, ReleaseOrder } from './wire.ts';

/** How long looks go on after the last page has closed: it may come back with another view. ms. */
const LINGER = 3_000;
/** The longest request, in bytes. */
const LONGEST_BODY = 8_192;

export interface PageOptions {
  /** Opens the engine; called again while it fails. */
  readonly open: () => Promise<Locks>;
  /** The address of the engine, without a password. */
  readonly engine: string;
  /** Only keys that begin with this. */
  readonly prefix: string;
  readonly pace: Pace;
  /** 0: any free port. */
  readonly port: number;
  /** Called for each evicted holder. Without it, the page changes nothing. */
  readonly released?: (order: ReleaseOrder) => void;
}

/** The page of one engine, at 127.0.0.1. */
export class PageServer {
  readonly #options: PageOptions;
  readonly #token = randomBytes(18).toString('base64url');
  readonly #board = new Board();
  readonly #began = Math.round(performance.now());
  readonly #access: Access;
  readonly #hub: Hub;
  readonly #listing: ListingLoop;
  readonly #loops: readonly Loop[];
  readonly #server: Server;
  #leaving: NodeJS.Timeout | undefined;
  #assets: ReadonlyMap<string, Asset> = new Map();

  constructor(options: PageOptions) {
    this.#options = options;
    const { engine, prefix, pace, released } = options;
    const now = (): number => Math.round(performance.now());
    this.#access = new Access(options.open);
    const setting = { engine, prefix, mayRelease: released !== undefined, began: this.#began };
    this.#hub = new Hub(
      (query) => snapshot(this.#board, query, setting, { now: now(), pause: this.#listing.pause }),
      (pages) => this.#watch(pages > 0 ? true : 'linger'),
    );
    const around: Surroundings = {
      ...{ access: this.#access, board: this.#board, prefix, pace, now },
      changed: () => this.#hub.changed(),
      focus: () => new Set([...this.#hub.focus(), ...this.#board.deadlocks.keys]),
    };
    this.#listing = new ListingLoop(around);
    const closeUp = new CloseUp(around);
    this.#loops = [this.#listing, closeUp].map((each) => new Loop((goesOn) => each.once(goesOn)));
    this.#server = createServer(
      (request, response) => void this.#answer(request, response).catch(() => response.destroy()),
    );
  }

  /** The engine of the page. @throws LockError as `connect` does */
  engine(): Promise<Locks> {
    return this.#access.locks();
  }

  /** @returns the address of the page, with its token. @throws Node's error for a port that is not available */
  async listen(): Promise<string> {
    this.#assets = await assets();
    this.#server.listen(this.#options.port, '127.0.0.1');
    await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/${this.#token}/`;
  }

  /** Ends everything at once. The engine's connections close as they end. */
  close(): Promise<void> {
    this.#hub.end();
    this.#watch(false);
    this.#server.close();
    this.#server.closeAllConnections();
    return this.#access.close();
  }

  #watch(wanted: boolean | 'linger'): void {
    clearTimeout(this.#leaving);
    if (wanted === 'linger') this.#leaving = setTimeout(() => this.#watch(false), LINGER);
    else for (const loop of this.#loops) loop.wanted = wanted;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const { method = '', url = '', headers } = request;
    const verdict = judge({ method, url, headers }, this.#token);
    if (!verdict.allowed) {
      response.writeHead(verdict.status, { 'Content-Type': 'text/html; charset=utf-8' }).end(refusalPage(verdict.why));
      return;
    }
    const { path, query } = verdict;
    if (method === 'POST') return this.#act(path, request, response);
    if (path === 'events') {
      if (this.#hub.full) response.writeHead(503).end('Too many pages are open.');
      else this.#hub.add(query, response);
      return;
    }
    const asset = this.#assets.get(path === '' ? 'page.html' : path);
    if (!asset) response.writeHead(404, { 'Content-Type': 'text/plain' }).end('There is nothing of this name.');
    else response.writeHead(200, { 'Content-Type': asset.type }).end(method === 'HEAD' ? undefined : asset.body);
  }

  async #act(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const tell = (status: number, answer: ReleaseAnswer | object): void =>
      void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
    const body = await bodyOf(request);
    if (body === undefined) return tell(413, { error: 'the request is too long' });
    if (path === 'look') {
      for (const loop of this.#loops) loop.hurry();
      return tell(200, {});
    }
    const { released } = this.#options;
    if (path !== 'release') return tell(404, { error: 'there is nothing of this name' });
    if (!released) return tell(403, { error: 'the page was started without --allow-release' });
    const order = orderOf(body);
    if (typeof order === 'string') return tell(400, { error: order });
    this.#board.evicted(order.key, BigInt(order.ticket)); // before the eviction: a look may be under way
    const answer = await release(await this.#access.locks(), order);
    if ('evicted' in answer && answer.evicted) released(order);
    for (const loop of this.#loops) loop.hurry();
    tell(200, answer);
  }
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > LONGEST_BODY) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
