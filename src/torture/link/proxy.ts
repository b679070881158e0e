import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import type { LinkFault } from '../events.ts';
import { Link } from './link.ts';
import { cutOf, type LinkState, slowdownOf } from './link-state.ts';

const HOST = '127.0.0.1';

/** Leads all connections of one process: it has a port for each server. */
export class FaultyProxy implements AsyncDisposable {
  readonly #state: LinkState = { hits: 0 };
  readonly #listeners = new Map<string, Promise<Server>>();
  readonly #links = new Set<Link>();

  /** The port on this machine that leads to a server. */
  async port(host: string, port: number): Promise<number> {
    const target = `${host}:${port}`;
    let listener = this.#listeners.get(target);
    if (!listener) {
      listener = this.#listen(host, port);
      this.#listeners.set(target, listener);
    }
    return ((await listener).address() as AddressInfo).port;
  }

  /** Starts a fault, which lasts until `endFault`. */
  beginFault(kind: LinkFault, choice: number, ttl: number): void {
    this.#state.hits = 0;
    this.#state.slowdown = slowdownOf(kind, choice, ttl);
    this.#state.nextCut = cutOf(kind, choice);
    if (kind !== 'cut') return;
    this.#state.hits = this.#links.size;
    for (const link of this.#links) link.cut();
  }

  /** How often the fault has hit bytes since `beginFault`. */
  get hits(): number {
    return this.#state.hits;
  }

  endFault(): void {
    this.#state.slowdown = undefined;
    this.#state.nextCut = undefined;
    for (const link of this.#links) link.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const link of this.#links) link.cut();
    for (const listener of this.#listeners.values()) (await listener).close();
  }

  async #listen(host: string, port: number): Promise<Server> {
    const options = { noDelay: true, allowHalfOpen: true };
    const listener = createServer(options, (client) => {
      const server = connect({ ...options, host, port });
      const link: Link = new Link(client, server, this.#state, () => this.#links.delete(link));
      this.#links.add(link);
    });
    listener.listen(0, HOST);
    await once(listener, 'listening');
    return listener;
  }
}
