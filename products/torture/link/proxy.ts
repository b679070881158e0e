import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { LinkFault } from '../events.ts';
import { cutOf, Flow, type LinkState, slowdownOf } from './flow.ts';

const HOST = '127.0.0.1';

/** The proxy for all connections of one process. It has a port for each server. */
export class FaultyProxy implements AsyncDisposable {
  readonly #state: LinkState = { hits: 0 };
  readonly #listeners = new Map<string, Promise<Server>>();
  readonly #links = new Set<Link>();

  /** Gives the port on this machine that leads to a server. */
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

/**
 * One connection through the proxy. It knows no protocol: all bytes of the client count as requests, all of the server as replies.
 */
class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #state: LinkState;
  readonly #up: Flow;
  readonly #down: Flow;
  /** What to do with the next reply: drop it, send it and end, or send half of it. */
  #reply: 'drop' | 'last' | 'halve' | undefined;

  constructor(client: Socket, server: Socket, state: LinkState, ended: () => void) {
    this.#client = client;
    this.#server = server;
    this.#state = state;
    this.#up = new Flow('up', server, state);
    this.#down = new Flow('down', client, state);
    client.on('data', (bytes) => this.#request(bytes)).on('end', () => this.#up.end());
    server.on('data', (bytes) => this.#answer(bytes)).on('end', () => this.#down.end());
    pair(client, server, () => {
      this.#up.stop();
      this.#down.stop();
      ended();
    });
  }

  /** Cuts both sides at once, as a failing network does. */
  cut(): void {
    reset(this.#client);
    reset(this.#server);
  }

  flush(): void {
    this.#up.flush();
    this.#down.flush();
  }

  #request(bytes: Buffer): void {
    const { nextCut } = this.#state;
    if (nextCut === undefined || this.#reply) {
      this.#up.take(bytes);
      return;
    }
    this.#state.nextCut = undefined;
    this.#state.hits++;
    if (nextCut.kind === 'cut before the request') this.cut();
    else if (nextCut.kind === 'halved' && nextCut.direction === 'up') this.#last(this.#server, half(bytes));
    else {
      this.#reply = nextCut.kind === 'cut before the reply' ? 'drop' : nextCut.kind === 'halved' ? 'halve' : 'last';
      this.#up.take(bytes);
    }
  }

  /** If a reply comes, the server has done the request. */
  #answer(bytes: Buffer): void {
    if (this.#reply === undefined) this.#down.take(bytes);
    else if (this.#reply === 'drop') this.cut();
    else this.#last(this.#client, this.#reply === 'halve' ? half(bytes) : bytes);
  }

  /** Delivers these bytes, and then nothing. */
  #last(to: Socket, bytes: Buffer): void {
    this.#up.stop();
    this.#down.stop();
    for (const socket of [this.#client, this.#server]) socket.pause();
    if (to.writable) to.end(bytes, () => this.cut());
    else this.cut();
  }
}

const half = (bytes: Buffer): Buffer => bytes.subarray(0, Math.floor(bytes.length / 2));

/** If one side of a proxied connection fails, resets the other side. @param over called when both sides are closed */
export function pair(client: Socket, server: Socket, over: () => void): void {
  for (const [socket, other] of [
    [client, server],
    [server, client],
  ] as const) {
    socket.on('error', () => reset(other));
    socket.on('close', () => {
      if (client.destroyed && server.destroyed) over();
    });
  }
}

/** libuv refuses to reset a socket that is shutting down, and Node then never closes the socket. */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
