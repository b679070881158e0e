import type { Socket } from 'node:net';
import type { LinkFault } from '../events.ts';

/** `up`: to the server. `down`: back from it. */
export type Direction = 'up' | 'down';

/** A fault that delays bytes for a while. */
export type Slowdown =
  | { readonly kind: 'delayed'; readonly ms: number }
  | { readonly kind: 'stalled'; readonly direction: Direction | 'both' }
  | { readonly kind: 'dripped'; readonly ms: number };

/** A fault that happens once, to the next request or its reply, and ends the connection. */
export type Cut =
  | { readonly kind: 'cut before the request' | 'cut before the reply' | 'cut after the reply' }
  | { readonly kind: 'halved'; readonly direction: Direction };

/** The faults that all connections of one process share. */
export interface LinkState {
  slowdown?: Slowdown;
  nextCut?: Cut;
  /** How often the faults hit bytes. */
  hits: number;
}

/** @param choice from 0 to below 1, decides the details */
export function slowdownOf(kind: LinkFault, choice: number, ttl: number): Slowdown | undefined {
  if (kind === 'delayed') return { kind, ms: 5 + choice * ttl * 0.4 };
  if (kind === 'dripped') return { kind, ms: 1 };
  if (kind === 'stalled') return { kind, direction: choice < 0.4 ? 'both' : choice < 0.7 ? 'up' : 'down' };
  return undefined;
}

/** @param choice from 0 to below 1, decides the details */
export function cutOf(kind: LinkFault, choice: number): Cut | undefined {
  if (kind === 'halved') return { kind, direction: choice < 0.5 ? 'up' : 'down' };
  if (kind === 'cut before the request' || kind === 'cut before the reply' || kind === 'cut after the reply')
    return { kind };
  return undefined;
}

interface Piece {
  readonly bytes: Buffer;
  /** When to send the bytes on, ms of `performance.now`; Infinity: when the slowdown ends. */
  readonly due: number;
}

/** The number of pieces that `dripped` makes of a message: more would only take longer. */
const DROPS = 24;

/** One direction of one connection. Bytes may come late, but never out of order: TCP keeps the order. */
export class Flow {
  readonly #direction: Direction;
  readonly #to: Socket;
  readonly #state: LinkState;
  readonly #queue: Piece[] = [];
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(direction: Direction, to: Socket, state: LinkState) {
    this.#direction = direction;
    this.#to = to;
    this.#state = state;
  }

  take(bytes: Buffer): void {
    const { slowdown } = this.#state;
    const now = performance.now();
    const last = this.#queue.at(-1)?.due ?? now;
    if (
      slowdown === undefined ||
      (slowdown.kind === 'stalled' && slowdown.direction !== 'both' && slowdown.direction !== this.#direction)
    ) {
      if (this.#queue.length === 0) this.#write(bytes);
      else this.#queue.push({ bytes, due: last });
      return;
    }
    this.#state.hits++;
    if (slowdown.kind === 'stalled') this.#queue.push({ bytes, due: Number.POSITIVE_INFINITY });
    else if (slowdown.kind === 'delayed') this.#queue.push({ bytes, due: Math.max(last, now + slowdown.ms) });
    else {
      const size = Math.ceil(bytes.length / DROPS);
      for (let at = 0, due = last; at < bytes.length; at += size, due += slowdown.ms)
        this.#queue.push({ bytes: bytes.subarray(at, at + size), due });
    }
    this.#arm();
  }

  /** Call this when no more bytes come. */
  end(): void {
    this.#ended = true;
    if (this.#queue.length === 0) this.#to.end();
  }

  /** Sends all bytes that wait, because the slowdown is over. */
  flush(): void {
    while (this.#queue.length > 0) this.#write(this.#queue.shift()!.bytes);
    this.#finish();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#queue.length = 0;
  }

  #arm(): void {
    const [first] = this.#queue;
    clearTimeout(this.#timer);
    if (!first || first.due === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => this.#deliver(), Math.max(0, first.due - performance.now()));
  }

  #deliver(): void {
    const now = performance.now();
    while (this.#queue.length > 0 && this.#queue[0]!.due <= now) this.#write(this.#queue.shift()!.bytes);
    this.#finish();
    this.#arm();
  }

  #finish(): void {
    if (this.#queue.length > 0) return;
    clearTimeout(this.#timer);
    if (this.#ended) this.#to.end();
  }

  #write(bytes: Buffer): void {
    if (this.#to.writable) this.#to.write(bytes);
  }
}
