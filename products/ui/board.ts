import { type Finding, type QueueEntry, RecentKeys } from '../../src/core/index.ts';
import type { MemoSight } from '../../src/memo/state.ts';
import { type KeyQueueView, updateView, viewFrom } from './claim.ts';
import { Deadlocks } from './deadlocks.ts';
import { changesBetween, History } from './history.ts';
import type { Looks } from './wire.ts';

/** How many keys are kept. Beyond this number, keys without waiters are only counted. */
const MAX_KEYS = 250_000;

/** How many evictions by the page the board remembers. */
const MAX_EVICTIONS = 100;

/** What the page knows of the locks of one engine, and of their past. A board asks no engine, and reads no clock. */
export class Board {
  readonly history = new History();
  readonly deadlocks = new Deadlocks();
  looks: Looks = { state: 'never' };
  findings: readonly Finding[] | undefined;
  /** What the engine remembers of the open keys, and when a look found it, ms. */
  memos: ReadonlyMap<string, { readonly sight: MemoSight; readonly at: number }> = new Map();
  /** The traces of the claims of the open keys, by token and key. */
  traces: ReadonlyMap<string, string> = new Map();
  readonly #views = new Map<string, KeyQueueView>();
  readonly #evicted = new RecentKeys<true>(MAX_EVICTIONS);
  readonly #limit: number;
  #pass = 0;
  #beyond = 0;
  #beyondNow = 0;

  constructor(limit: number = MAX_KEYS) {
    this.#limit = limit;
  }

  views(): Iterable<KeyQueueView> {
    return this.#views.values();
  }

  view(key: string): KeyQueueView | undefined {
    return this.#views.get(key);
  }

  /** How many held keys are not kept. */
  get beyond(): number {
    return Math.max(this.#beyond, this.#beyondNow);
  }

  /** Begins a look at all keys. A key that this look does not meet is free at its end. */
  begin(): void {
    this.#pass++;
    this.#beyondNow = 0;
  }

  /** Takes in what a look found at a key. `entries` is empty if a close look found the key free. */
  see(key: string, entries: readonly QueueEntry[], at: number): void {
    const before = this.#views.get(key);
    if (before && updateView(before, entries, at)) {
      before.pass = this.#pass;
      return;
    }
    const last = before?.at ?? this.looks.at;
    const after = entries.length > 0 ? viewFrom(key, entries, { before, last, at, pass: this.#pass }) : undefined;
    if (after && !before && this.#views.size >= this.#limit && after.waiters.length === 0) {
      this.#beyondNow++;
      return;
    }
    if (last !== undefined) this.#note(key, before, after, at);
    if (after) this.#views.set(after.key, after);
    else this.#views.delete(key);
  }

  /** Only marks a key as met, because newer facts about it are known. */
  meet(key: string): void {
    const known = this.#views.get(key);
    if (known) known.pass = this.#pass;
  }

  /** Ends a complete look. @param took ms */
  finish(at: number, took: number): void {
    for (const [key, view] of this.#views) {
      if (view.pass === this.#pass) continue;
      this.#note(key, view, undefined, at);
      this.#views.delete(key);
    }
    this.#beyond = this.#beyondNow;
    this.looks = { state: 'seen', at, took };
    this.deadlocks.look(this.views());
  }

  /** Notes that the look failed. The known facts stay. */
  fail(error: string, at: number): void {
    const { at: last, took, failingSince = at } = this.looks;
    this.looks = { state: 'failing', at: last, took, error, failingSince };
  }

  /** Notes that the page evicts the holder with this token. */
  noteEviction(key: string, token: bigint): void {
    this.#evicted.set(`${token} ${key}`, true);
  }

  #note(key: string, before: KeyQueueView | undefined, after: KeyQueueView | undefined, at: number): void {
    this.history.add(
      changesBetween(key, before, after, { at, evicted: (token) => this.#evicted.has(`${token} ${key}`) }),
    );
  }
}
