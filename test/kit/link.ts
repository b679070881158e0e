import type { Socket } from 'node:net';
import { pair, reset } from '../../products/torture/link/proxy.ts';

/** `up`: from the client to the server. `down`: back. */
export type Direction = 'up' | 'down';

/** What happens to bytes when they reach the proxy. */
export type Mode =
  | { readonly kind: 'pass' }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'stall' }
  | { readonly kind: 'blackhole' };

/** Waits for bytes in a request. */
export interface Trap {
  readonly match: Buffer;
  /** Whether the request still reaches the server. */
  readonly forward: boolean;
  sprung(): void;
}

/** What all links of a proxy share. */
export interface Weather {
  readonly modes: Readonly<Record<Direction, Mode>>;
  readonly traps: Set<Trap>;
  /** Bytes that came through, and that did not. */
  readonly passed: Record<Direction, number>;
  readonly dropped: Record<Direction, number>;
}

const LONGEST_MATCH = 256;
/** ms without a further byte after which a reply is taken to be complete. */
const QUIET = 10;
/** ms after which a request that gets no reply at all is taken to have been executed. */
const SILENT = 1_000;

/** One direction of a link: bytes, and the end of the stream, in order. */
class Flow {
  readonly #direction: Direction;
  readonly #source: Socket;
  readonly #target: Socket;
  readonly #weather: Weather;
  readonly #queue: (() => void)[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(direction: Direction, source: Socket, target: Socket, weather: Weather) {
    this.#direction = direction;
    this.#source = source;
    this.#target = target;
    this.#weather = weather;
    source.on('end', () => this.#take(0, () => target.end()));
    this.modeChanged();
  }

  modeChanged(): void {
    const { kind } = this.#weather.modes[this.#direction];
    if (kind === 'stall') this.#source.pause();
    else this.#source.resume();
    if (kind === 'pass') while (this.#queue.length > 0) this.#queue.shift()!();
  }

  forward(bytes: Buffer): void {
    this.#take(bytes.length, () => {
      this.#weather.passed[this.#direction] += bytes.length;
      // The other side went away unheard: as a real network, say so only to who sends.
      if (this.#target.writable) this.#target.write(bytes);
      else reset(this.#source);
    });
  }

  drop(size: number): void {
    this.#weather.dropped[this.#direction] += size;
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#queue.length = 0;
  }

  #take(size: number, deliver: () => void): void {
    const mode = this.#weather.modes[this.#direction];
    if (mode.kind === 'blackhole') this.drop(size);
    else if (mode.kind === 'delay') this.#later(mode.ms, deliver);
    else if (this.#queue.length > 0) this.#later(0, deliver);
    else deliver();
  }

  /** Each timer lets the oldest go, so that a shorter delay overtakes nothing. */
  #later(ms: number, deliver: () => void): void {
    this.#queue.push(deliver);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#queue.shift()?.();
    }, ms);
    this.#timers.add(timer);
  }
}

/** One connection through the proxy. */
export class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #weather: Weather;
  readonly #up: Flow;
  readonly #down: Flow;
  /** The end of what the client sent: a match may span two pieces. */
  #tail = Buffer.alloc(0);
  /** Set from when a trap let its request pass. */
  #trapped?: { sprung(): void; timer: NodeJS.Timeout };

  constructor(client: Socket, server: Socket, weather: Weather, ended: () => void) {
    this.#client = client;
    this.#server = server;
    this.#weather = weather;
    this.#up = new Flow('up', client, server, weather);
    this.#down = new Flow('down', server, client, weather);
    client.on('data', (bytes) => this.#request(bytes));
    server.on('data', (bytes) => this.#reply(bytes));
    pair(client, server, () => {
      this.#up.stop();
      this.#down.stop();
      this.#spring();
      ended();
    });
  }

  modeChanged(): void {
    this.#up.modeChanged();
    this.#down.modeChanged();
  }

  cut(): void {
    reset(this.#client);
    reset(this.#server);
  }

  #request(bytes: Buffer): void {
    const { traps } = this.#weather;
    const seen = Buffer.concat([this.#tail, bytes]);
    const trap = [...traps].find(({ match }) =>
      seen.includes(match, Math.max(0, this.#tail.length - match.length + 1)),
    );
    this.#tail = seen.subarray(-LONGEST_MATCH);
    if (trap) traps.delete(trap);
    if (!trap) {
      this.#up.forward(bytes);
    } else if (trap.forward) {
      this.#up.forward(bytes);
      this.#trapped = { sprung: trap.sprung, timer: setTimeout(() => this.#spring(), SILENT) };
    } else {
      this.#up.drop(bytes.length);
      this.cut();
      trap.sprung();
    }
  }

  /** A reply shows that the request was executed: it may be cut then, and not before. */
  #reply(bytes: Buffer): void {
    if (this.#trapped) {
      this.#down.drop(bytes.length);
      clearTimeout(this.#trapped.timer);
      this.#trapped.timer = setTimeout(() => this.#spring(), QUIET);
    } else {
      this.#down.forward(bytes);
    }
  }

  #spring(): void {
    if (!this.#trapped) return;
    const { sprung, timer } = this.#trapped;
    this.#trapped = undefined;
    clearTimeout(timer);
    reset(this.#client);
    // Not a reset: it could overtake what the server has not read yet.
    this.#server.destroySoon();
    sprung();
  }
}
