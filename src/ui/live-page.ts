import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Access } from './access.ts';
import { type Asset, assets } from './assets.ts';
import { Board } from './board.ts';
import { bodyOf } from './body.ts';
import { CloseUp } from './close-up.ts';
import type { Verdict } from './guard.ts';
import { Hub } from './hub.ts';
import { ListingLoop, type Surroundings } from './listing.ts';
import { Loop } from './loop.ts';
import type { Pace } from './pace.ts';
import { orderOf, release } from './release.ts';
import { snapshot } from './view.ts';
import type { ReleaseAnswer, ReleaseOrder } from './wire.ts';

/** How long looks go on after the last page has closed: it may come back with another view. ms. */
const LINGER = 3_000;

export interface LiveOptions {
  readonly access: Access;
  /** The address of the engine, without a password. */
  readonly engine: string;
  /** Only keys that begin with this. */
  readonly prefix: string;
  readonly pace: Pace;
  /** Called for each evicted holder. Without it, the page changes nothing. */
  readonly released?: ((order: ReleaseOrder, request: IncomingMessage) => void) | undefined;
  /** Says why the page may not evict. */
  readonly readOnly: string;
}

/** The page of one engine: looks at its locks while somebody has the page open, and answers requests that a guard has let in. */
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
    const { access, engine, prefix, pace, released } = options;
    const now = (): number => Math.round(performance.now());
    const setting = { engine, prefix, mayRelease: released !== undefined, began: now() };
    this.#hub = new Hub(
      (query) => snapshot(this.#board, query, setting, { now: now(), pause: this.#listing.pause }),
      (pages) => this.#watch(pages > 0 ? true : 'linger'),
    );
    const around: Surroundings = {
      ...{ access, board: this.#board, prefix, pace, now },
      onChange: () => this.#hub.onChange(),
      focus: () => new Set([...this.#hub.focus(), ...this.#board.deadlocks.keys]),
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
  }

  async answer(
    { path, query }: Verdict & { allowed: true },
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { method } = request;
    if (method === 'POST') return this.#act(path, request, response);
    if (path === 'events') {
      if (this.#hub.full) response.writeHead(503).end('Too many pages are open.');
      else this.#hub.add(query, response);
      return;
    }
    const asset = (await this.assets()).get(path === '' ? 'page.html' : path);
    if (!asset) response.writeHead(404, { 'Content-Type': 'text/plain' }).end('There is nothing of this name.');
    else response.writeHead(200, { 'Content-Type': asset.type }).end(method === 'HEAD' ? undefined : asset.body);
  }

  #watch(wanted: boolean | 'linger'): void {
    clearTimeout(this.#leaving);
    if (wanted === 'linger') this.#leaving = setTimeout(() => this.#watch(false), LINGER);
    else for (const loop of this.#loops) loop.wanted = wanted;
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
    const { access, released, readOnly } = this.#options;
    if (path !== 'release') return tell(404, { error: 'there is nothing of this name' });
    if (!released) return tell(403, { error: readOnly });
    const order = orderOf(body);
    if (typeof order === 'string') return tell(400, { error: order });
    this.#board.noteEviction(order.key, BigInt(order.token)); // before the eviction: a look may be under way
    const answer = await release(await access.locks(), order);
    if ('evicted' in answer && answer.evicted) released(order, request);
    for (const loop of this.#loops) loop.hurry();
    tell(200, answer);
  }
}
