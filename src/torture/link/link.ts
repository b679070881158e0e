import type { Socket } from 'node:net';
import { Flow } from './flow.ts';
import { pair, reset } from './pair.ts';
import type { Weather } from './weather.ts';

/**
 * One connection through the proxy. It knows no protocol: what the client sends is a request, and what the server sends is a
 * reply.
 */
export class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #weather: Weather;
  readonly #up: Flow;
  readonly #down: Flow;
  /** What happens to the reply of the request that has passed. */
  #reply: 'drop' | 'last' | 'halve' | undefined;

  constructor(client: Socket, server: Socket, weather: Weather, ended: () => void) {
    this.#client = client;
    this.#server = server;
    this.#weather = weather;
    this.#up = new Flow('up', server, weather);
    this.#down = new Flow('down', client, weather);
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

  clear(): void {
    this.#up.clear();
    this.#down.clear();
  }

  #request(bytes: Buffer): void {
    const { trap } = this.#weather;
    if (trap === undefined || this.#reply) {
      this.#up.take(bytes);
      return;
    }
    this.#weather.trap = undefined;
    this.#weather.hits++;
    if (trap.kind === 'cut before the request') this.cut();
    else if (trap.kind === 'halved' && trap.way === 'up') this.#last(this.#server, half(bytes));
    else {
      this.#reply = trap.kind === 'cut before the reply' ? 'drop' : trap.kind === 'halved' ? 'halve' : 'last';
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
