import type { ServerResponse } from 'node:http';
import { type Query, queryOf } from './query.ts';
import type { Snapshot } from './wire.ts';

/** The shortest time between two messages to a page, ms. */
const MIN_INTERVAL_MS = 250;
/** The part of this process's time that messages may take. A large view gets fewer messages. */
const TIME_PART = 0.1;
/** The longest time between two messages, ms: a page without messages thinks that the server is gone. */
const HEARTBEAT_MS = 10_000;
const MAX_PAGES = 64;

interface Page {
  readonly query: Query;
  readonly to: ServerResponse;
}

/** The open pages. Each page gets a snapshot of its view when a look has found something. */
export class Hub {
  readonly #pages = new Set<Page>();
  readonly #show: (query: Query) => Snapshot;
  readonly #onCount: (pages: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #sent = 0;
  #due = Number.POSITIVE_INFINITY;
  #between = MIN_INTERVAL_MS;
  #ended = false;

  /** @param counted called when the number of pages changes */
  constructor(show: (query: Query) => Snapshot, counted: (pages: number) => void) {
    this.#show = show;
    this.#onCount = counted;
  }

  focus(): ReadonlySet<string> {
    const keys = new Set<string>();
    for (const { query } of this.#pages) for (const key of [query.key, ...query.lines]) if (key) keys.add(key);
    return keys;
  }

  /** Adds a page until its connection ends. After `end` a page is refused: its connection would keep the server from closing. */
  add(params: URLSearchParams, to: ServerResponse): void {
    if (to.destroyed) return; // the user has left while a login took its time: no event would tell of the end
    const isFull = this.#pages.size >= MAX_PAGES;
    if (this.#ended || isFull) {
      to.writeHead(503).end(isFull ? 'Too many pages are open.' : 'The page is closed.');
      return;
    }
    const page: Page = { query: queryOf(params), to };
    to.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    to.write('retry: 1000\n\n');
    this.#pages.add(page);
    to.on('close', () => {
      this.#pages.delete(page);
      this.#onCount(this.#pages.size);
    });
    this.#onCount(this.#pages.size);
    this.#send(page);
    this.#later(HEARTBEAT_MS);
  }

  onChange(): void {
    this.#later(this.#between - (performance.now() - this.#sent));
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    for (const { to } of this.#pages) to.removeAllListeners('close').destroy();
    this.#pages.clear();
  }

  #later(ms: number): void {
    if (this.#pages.size === 0) return;
    const due = performance.now() + Math.max(0, ms);
    if (due >= this.#due) return;
    this.#due = due;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#sendAll(), Math.max(0, ms));
  }

  #sendAll(): void {
    this.#due = Number.POSITIVE_INFINITY;
    const began = performance.now();
    for (const page of this.#pages) this.#send(page);
    this.#sent = performance.now();
    this.#between = Math.max(MIN_INTERVAL_MS, (this.#sent - began) / TIME_PART);
    this.#later(HEARTBEAT_MS);
  }

  #send({ query, to }: Page): void {
    // A slow reader misses this message. The next one is complete, too.
    if (!to.writableNeedDrain) to.write(`data: ${JSON.stringify(this.#show(query))}\n\n`);
  }
}
