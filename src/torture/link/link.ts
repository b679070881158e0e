import type { Socket } from 'node:net';
import { Flow } from './flow.ts';
import type { LinkState } from './link-state.ts';

/**
 * One connection through the proxy. It knows no protocol: what the client sends is a request, and what the server sends is a
 * reply.
 */
export class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #state: LinkState;
  readonly #up: Flow;
  readonly #down: Flow;
  /** What happens to the reply of the request that has passed. */
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

  /** A reply shows that the request was done. */
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

/** Ties both ends of a proxied connection: the reset of one resets the other. @param over called when both are closed */
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

/** libuv refuses to reset a socket that is shutting down, and Node then never closes it. */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
