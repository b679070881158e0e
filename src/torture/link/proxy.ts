import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import type { LinkFault } from '../history.ts';
import { Link } from './link.ts';
import { spellOf, trapOf, type Weather } from './weather.ts';

const HOST = '127.0.0.1';

/** Leads all connections of one process: it has a port for each server. */
export class FaultyProxy implements AsyncDisposable {
  readonly #weather: Weather = { hits: 0 };
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

  /** Starts a fault, which lasts until `calm`. */
  begin(kind: LinkFault, choice: number, ttl: number): void {
    this.#weather.hits = 0;
    this.#weather.spell = spellOf(kind, choice, ttl);
    this.#weather.trap = trapOf(kind, choice);
    if (kind !== 'cut') return;
    this.#weather.hits = this.#links.size;
    for (const link of this.#links) link.cut();
  }

  /** How often the fault has hit bytes since `begin`. */
  get hits(): number {
    return this.#weather.hits;
  }

  calm(): void {
    this.#weather.spell = undefined;
    this.#weather.trap = undefined;
    for (const link of this.#links) link.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const link of this.#links) link.cut();
    for (const listener of this.#listeners.values()) (await listener).close();
  }

  async #listen(host: string, port: number): Promise<Server> {
    const options = { noDelay: true, allowHalfOpen: true };
    const listener = createServer(options, (client) => {
      const server = connect({ ...options, host, port });
      const link: Link = new Link(client, server, this.#weather, () => this.#links.delete(link));
      this.#links.add(link);
    });
    listener.listen(0, HOST);
    await once(listener, 'listening');
    return listener;
  }
}
