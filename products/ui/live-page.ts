import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Locks } from '../../src/locks.ts';
import { Board } from './board.ts';
import { forget, keyOf, orderOf, orError, release, type Verdict } from './guard.ts';
import { Hub } from './hub.ts';
import { type Access, CloseUp, ListingLoop, type Surroundings } from './listing.ts';
import { memosOf } from './memos.ts';
import { Loop, type Pace } from './pace.ts';
import type { Recorder } from './recorder.ts';
import { memoSeen, snapshot } from './view.ts';
import type { ForgetAnswer, MemoList, ReleaseAnswer, ReleaseOrder } from './wire.ts';

interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  'page.html': 'text/html; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};

async function assets(): Promise<ReadonlyMap<string, Asset>> {
  const { files } = await import('./files.ts'); // loaded late: few processes show the page
  const made = await files();
  return new Map(Object.entries(TYPES).map(([name, type]) => [name, { type, body: Buffer.from(made[name]!) }]));
}

/** The longest request, in bytes. */
const MAX_BODY_BYTES = 8_192;

/** The body of a request, also if a framework has parsed it before; undefined if it is too long. */
async function bodyOf(request: IncomingMessage & { readonly body?: unknown }): Promise<string | undefined> {
  if (request.body !== undefined) {
    const text = typeof request.body === 'string' ? request.body : JSON.stringify(request.body);
    return text.length > MAX_BODY_BYTES ? undefined : text;
  }
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > MAX_BODY_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

const respond = (response: ServerResponse, status: number, answer: object): void =>
  void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));

/** How long looks go on after the last page has closed, ms: a page that changes its view opens a new connection. */
const LINGER_MS = 3_000;

interface LiveOptions {
  readonly access: Access;
  /** The address of the engine, without a password. */
  readonly engine: string;
  /** Only keys that begin with this text. */
  readonly prefix: string;
  readonly pace: Pace;
  /** Called for each evicted holder. Without this function the page changes nothing. */
  readonly released?: ((order: ReleaseOrder, request: IncomingMessage) => void) | undefined;
  /** Called for each memo that the page made the engine forget. */
  readonly forgot?: ((key: string, request: IncomingMessage) => void) | undefined;
  /** The error if a user asks for a change that the page must not make. */
  readonly readOnly: string;
  /** The history of the locks of this process. */
  readonly recorder?: Recorder | undefined;
  /** The address of a trace, with `{traceId}` in its place. */
  readonly traceUrl?: string | undefined;
}

/** How many memos are listed at most. */
const MAX_MEMOS = 200;

/** The page of one engine: looks at its locks while a user has the page open, and answers requests that a guard has let in. */
export class LivePage {
  readonly #options: LiveOptions;
  readonly #board = new Board();
  readonly #hub: Hub;
  readonly #listing: ListingLoop;
  readonly #loops: readonly Loop[];
  #leaving: NodeJS.Timeout | undefined;
  #assets: Promise<ReadonlyMap<string, Asset>> | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    const { access, engine, prefix, pace, released, recorder, traceUrl } = options;
    const now = (): number => Math.round(performance.now());
    const setting = { engine, prefix, mayRelease: released !== undefined, began: now(), recorder, traceUrl };
    this.#hub = new Hub(
      (query) => snapshot(this.#board, query, setting, { now: now(), pause: this.#listing.pause }),
      (pages) => this.#watch(pages > 0 ? true : 'linger'),
    );
    const around: Surroundings = {
      ...{ access, board: this.#board, prefix, pace, now },
      onChange: () => this.#hub.onChange(),
      focus: () =>
        new Set([...this.#hub.focus(), ...this.#board.deadlocks.keys].filter((key) => key.startsWith(prefix))),
    };
    this.#listing = new ListingLoop(around);
    const closeUp = new CloseUp(around);
    this.#loops = [this.#listing, closeUp].map((each) => new Loop((goesOn) => each.once(goesOn)));
  }

  /** Reads the files of the page, once. */
  assets(): Promise<ReadonlyMap<string, Asset>> {
    this.#assets ??= assets();
    return this.#assets;
  }

  /** Ends the looks, and the connections of open pages. */
  end(): void {
    this.#hub.end();
    this.#watch(false);
    this.#options.recorder?.[Symbol.dispose]();
  }

  async answer(
    { path, query }: Verdict & { allowed: true },
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { method } = request;
    if (method === 'POST') return this.#act(path, request, response);
    if (path === 'events') return this.#hub.add(query, response);
    if (path === 'history') return this.#tellHistory(response);
    if (path === 'memos') return respond(response, 200, await this.#memos(query.get('in') ?? ''));
    const asset = (await this.assets()).get(path === '' ? 'page.html' : path);
    if (!asset) response.writeHead(404, { 'Content-Type': 'text/plain' }).end('There is nothing of this name.');
    else response.writeHead(200, { 'Content-Type': asset.type }).end(method === 'HEAD' ? undefined : asset.body);
  }

  #watch(wanted: boolean | 'linger'): void {
    clearTimeout(this.#leaving);
    if (wanted === 'linger') this.#leaving = setTimeout(() => this.#watch(false), LINGER_MS);
    else for (const loop of this.#loops) loop.wanted = wanted;
  }

  #tellHistory(response: ServerResponse): void {
    const { recorder } = this.#options;
    if (recorder) respond(response, 200, recorder.history());
    else respond(response, 404, { error: 'holdfast ui has no locks of its own, so it has no history' });
  }

  #memos(within: string): Promise<MemoList | { readonly error: string }> {
    const { access, prefix } = this.#options;
    return orError(async () => {
      const found = await memosOf(await access.locks(), within.startsWith(prefix) ? within : prefix, {
        most: MAX_MEMOS,
      });
      return { memos: found.map(([key, sight]) => ({ key, ...memoSeen(sight) })), more: found.length === MAX_MEMOS };
    });
  }

  async #act(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (body === undefined) return respond(response, 413, { error: 'the request is too long' });
    if (path === 'look') {
      this.#hurry();
      return respond(response, 200, {});
    }
    const { access, prefix, released, readOnly } = this.#options;
    if (path !== 'release' && path !== 'forget')
      return respond(response, 404, { error: 'there is nothing of this name' });
    if (!released) return respond(response, 403, { error: readOnly });
    const order = path === 'release' ? orderOf(body) : keyOf(body);
    if ('wrong' in order) return respond(response, 400, { error: order.wrong });
    if (!order.key.startsWith(prefix))
      return respond(response, 403, { error: `this page has only keys that begin with ${prefix}` });
    const locks = await access.locks();
    const act =
      order.token === undefined ? this.#forget(locks, order.key, request) : this.#release(locks, order, request);
    respond(response, 200, await act);
    this.#hurry();
  }

  async #release(locks: Locks, order: ReleaseOrder, request: IncomingMessage): Promise<ReleaseAnswer> {
    this.#board.noteEviction(order.key, BigInt(order.token)); // before the eviction, because a look may run meanwhile
    const answer = await release(locks, order);
    if ('evicted' in answer && answer.evicted) this.#options.released?.(order, request);
    return answer;
  }

  async #forget(locks: Locks, key: string, request: IncomingMessage): Promise<ForgetAnswer> {
    const answer = await forget(locks, key);
    if ('forgotten' in answer && answer.forgotten) this.#options.forgot?.(key, request);
    return answer;
  }

  #hurry(): void {
    for (const loop of this.#loops) loop.hurry();
  }
}
