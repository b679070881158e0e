import type { Socket } from 'node:net';
import type { Way, Weather } from './weather.ts';

interface Piece {
  readonly bytes: Buffer;
  /** When the bytes go on, in ms of `performance.now`; Infinity: at the end of the spell. */
  readonly due: number;
}

/** How many pieces a drip makes: more would only take longer. */
const DROPS = 24;

/** One direction of one connection. Bytes may come late, but never out of order: TCP keeps the order. */
export class Flow {
  readonly #way: Way;
  readonly #to: Socket;
  readonly #weather: Weather;
  readonly #queue: Piece[] = [];
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(way: Way, to: Socket, weather: Weather) {
    this.#way = way;
    this.#to = to;
    this.#weather = weather;
  }

  take(bytes: Buffer): void {
    const { spell } = this.#weather;
    const now = performance.now();
    const last = this.#queue.at(-1)?.due ?? now;
    if (spell === undefined || (spell.kind === 'stalled' && spell.way !== 'both' && spell.way !== this.#way)) {
      if (this.#queue.length === 0) this.#write(bytes);
      else this.#queue.push({ bytes, due: last });
      return;
    }
    this.#weather.hits++;
    if (spell.kind === 'stalled') this.#queue.push({ bytes, due: Number.POSITIVE_INFINITY });
    else if (spell.kind === 'delayed') this.#queue.push({ bytes, due: Math.max(last, now + spell.ms) });
    else {
      const size = Math.ceil(bytes.length / DROPS);
      for (let at = 0, due = last; at < bytes.length; at += size, due += spell.ms)
        this.#queue.push({ bytes: bytes.subarray(at, at + size), due });
    }
    this.#arm();
  }

  /** No more bytes come. */
  end(): void {
    this.#ended = true;
    if (this.#queue.length === 0) this.#to.end();
  }

  /** The spell is over: the kept bytes go on. */
  clear(): void {
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
