import { type Finding, type QueueEntry, RecentKeys } from '../../src/core/index.ts';
import type { MemoSight } from '../../src/memo/state.ts';
import { type KeyLine, lineFrom, updateLine } from './claim.ts';
import { Deadlocks } from './deadlocks.ts';
import { changesBetween, History } from './history.ts';
import type { Looks } from './wire.ts';

/** How many lines are kept. Beyond that, keys without waiters are only counted. */
const MAX_LINES = 250_000;

/** How many evictions by this page are remembered. */
const MAX_EVICTIONS = 100;

/** What is known of the locks of one engine, and what happened to them. It asks nobody, and reads no clock. */
export class Board {
  readonly history = new History();
  readonly deadlocks = new Deadlocks();
  looks: Looks = { state: 'never' };
  findings: readonly Finding[] | undefined;
  /** What the engine remembers of the open keys, and when that was seen. */
  memos: ReadonlyMap<string, { readonly sight: MemoSight; readonly at: number }> = new Map();
  /** The traces of the claims of the open keys, by token and key. */
  traces: ReadonlyMap<string, string> = new Map();
  readonly #lines = new Map<string, KeyLine>();
  readonly #evicted = new RecentKeys<true>(MAX_EVICTIONS);
  readonly #limit: number;
  #pass = 0;
  #beyond = 0;
  #beyondNow = 0;

  constructor(limit: number = MAX_LINES) {
    this.#limit = limit;
  }

  lines(): Iterable<KeyLine> {
    return this.#lines.values();
  }

  line(key: string): KeyLine | undefined {
    return this.#lines.get(key);
  }

  /** How many held keys are not kept. */
  get beyond(): number {
    return Math.max(this.#beyond, this.#beyondNow);
  }

  /** A look at all keys begins. Keys that it does not meet are free when it ends. */
  begin(): void {
    this.#pass++;
    this.#beyondNow = 0;
  }

  /** What the look found at a key. `standings` is empty if somebody asked for the key by name, and it is free. */
  see(key: string, standings: readonly QueueEntry[], at: number): void {
    const before = this.#lines.get(key);
    if (before && updateLine(before, standings, at)) {
      before.pass = this.#pass;
      return;
    }
    const last = before?.at ?? this.looks.at;
    const after = standings.length > 0 ? lineFrom(key, standings, { before, last, at, pass: this.#pass }) : undefined;
    if (after && !before && this.#lines.size >= this.#limit && after.waiters.length === 0) {
      this.#beyondNow++;
      return;
    }
    if (last !== undefined) this.#note(key, before, after, at);
    if (after) this.#lines.set(after.key, after);
    else this.#lines.delete(key);
  }

  /** The look met a key of which newer facts are known. */
  meet(key: string): void {
    const known = this.#lines.get(key);
    if (known) known.pass = this.#pass;
  }

  /** The look was complete. */
  finish(at: number, took: number): void {
    for (const [key, line] of this.#lines) {
      if (line.pass === this.#pass) continue;
      this.#note(key, line, undefined, at);
      this.#lines.delete(key);
    }
    this.#beyond = this.#beyondNow;
    this.looks = { state: 'seen', at, took };
    this.deadlocks.look(this.lines());
  }

  /** The look failed, and the known facts grow old. */
  fail(error: string, at: number): void {
    const { at: last, took, failingSince = at } = this.looks;
    this.looks = { state: 'failing', at: last, took, error, failingSince };
  }

  /** This page evicts the holder of this key with this token. */
  noteEviction(key: string, token: bigint): void {
    this.#evicted.set(`${token} ${key}`, true);
  }

  #note(key: string, before: KeyLine | undefined, after: KeyLine | undefined, at: number): void {
    this.history.add(
      changesBetween(key, before, after, { at, evicted: (token) => this.#evicted.has(`${token} ${key}`) }),
    );
  }
}
