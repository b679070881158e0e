import type { Socket } from 'node:net';
import type { Direction, LinkState } from './link-state.ts';

interface Piece {
  readonly bytes: Buffer;
  /** When the bytes go on, in ms of `performance.now`; Infinity: when the slowdown ends. */
  readonly due: number;
}

/** How many pieces a drip makes: more would only take longer. */
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

  /** No more bytes come. */
  end(): void {
    this.#ended = true;
    if (this.#queue.length === 0) this.#to.end();
  }

  /** Sends all kept bytes, because the slowdown is over. */
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
