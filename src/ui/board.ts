import type { Finding, Standing } from '../core/traits.ts';
import { changesBetween } from './changes.ts';
import { type Line, lineOf } from './claim.ts';
import { History } from './history.ts';

/** Lines that are kept. Beyond these, keys that nobody waits for are counted and not kept. */
const MOST_LINES = 250_000;

/** How the look at all keys stands. Times are ms of the clock of this process. */
export interface Looks {
  /**
   * `never`: nothing was seen yet. `seen`: the last look was complete. `failing`: it was not. `unable`: this engine cannot list its
   * locks.
   */
  readonly state: 'never' | 'seen' | 'failing' | 'unable';
  /** When the last complete look ended, and how long it took. */
  readonly at?: number;
  readonly took?: number;
  /** When the next one begins; undefined while one is under way, or nobody looks on. */
  readonly next?: number;
  /** How many keys the one that is under way has looked at. */
  readonly looked?: number;
  /** Why the last one failed, and when the first one failed since an engine answered. */
  readonly error?: string;
  readonly failingSince?: number;
}

/** What is known of the locks of one engine, and what happened to them. Nothing here asks anybody, or knows the time. */
export class Board {
  readonly history = new History();
  looks: Looks = { state: 'never' };
  findings: readonly Finding[] | undefined;
  /** Grows with whatever is seen. */
  revision = 0;
  readonly #lines = new Map<string, { line: Line; pass: number }>();
  readonly #evicted = new Set<string>();
  readonly #limit: number;
  #pass = 0;
  #beyond = 0;
  #beyondNow = 0;

  constructor(limit: number = MOST_LINES) {
    this.#limit = limit;
  }

  *lines(): Iterable<Line> {
    for (const { line } of this.#lines.values()) yield line;
  }

  line(key: string): Line | undefined {
    return this.#lines.get(key)?.line;
  }

  /** Keys that are held, and not kept. */
  get beyond(): number {
    return Math.max(this.#beyond, this.#beyondNow);
  }

  /** A look at all keys begins: those that it does not meet are nobody's when it ends. */
  begin(): void {
    this.#pass++;
    this.#beyondNow = 0;
  }

  /** What the look has met at a key; nobody: where that key was asked for by its name. */
  see(key: string, standings: readonly Standing[], at: number): void {
    this.revision++;
    const before = this.#lines.get(key)?.line;
    const last = before?.at ?? this.looks.at;
    const after = standings.length > 0 ? lineOf(key, standings, { before, last, at }) : undefined;
    if (after && !before && this.#lines.size >= this.#limit && after.waiters.length === 0) {
      this.#beyondNow++;
      return;
    }
    if (last !== undefined) this.#note(key, before, after, at);
    if (after) this.#lines.set(key, { line: after, pass: this.#pass });
    else this.#lines.delete(key);
  }

  /** The look has met a key of which something newer is known. */
  meet(key: string): void {
    const known = this.#lines.get(key);
    if (known) known.pass = this.#pass;
  }

  /** The look was complete. */
  finish(at: number, took: number): void {
    this.revision++;
    for (const [key, { line, pass }] of this.#lines) {
      if (pass === this.#pass) continue;
      this.#note(key, line, undefined, at);
      this.#lines.delete(key);
    }
    this.#beyond = this.#beyondNow;
    this.looks = { state: 'seen', at, took };
  }

  /** It was not, and what is known grows old. */
  fail(error: string, at: number): void {
    this.revision++;
    const { at: last, took, failingSince = at } = this.looks;
    this.looks = { state: 'failing', at: last, took, error, failingSince };
  }

  /** The holder of this key that has this ticket is evicted from here. */
  evicted(key: string, ticket: bigint): void {
    this.#evicted.add(`${ticket} ${key}`);
    if (this.#evicted.size > 100) this.#evicted.delete(this.#evicted.values().next().value!);
  }

  #note(key: string, before: Line | undefined, after: Line | undefined, at: number): void {
    this.history.add(
      changesBetween(key, before, after, { at, evicted: (ticket) => this.#evicted.has(`${ticket} ${key}`) }),
    );
  }
}
