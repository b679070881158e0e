import { isLockError, listOf, type QueueEntry } from '../../src/core/index.ts';
import { type Locks, runtimeOf } from '../../src/locks.ts';
import { type MemoSight, sightOf } from '../../src/memo/state.ts';
import type { Board } from './board.ts';
import { busyFor, Cost, type Pace, retryAfter, Stopwatch } from './pace.ts';

/** Opens the engine at the first use, and tries again until the engine is open. */
export class Access {
  readonly #open: () => Promise<Locks>;
  #locks: Locks | undefined;
  #opening: Promise<Locks> | undefined;
  #ended = false;

  constructor(open: () => Promise<Locks>) {
    this.#open = open;
  }

  get opened(): boolean {
    return this.#locks !== undefined;
  }

  /** @throws LockError as `connect` does */
  async locks(): Promise<Locks> {
    if (this.#locks) return this.#locks;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    const locks = await this.#opening;
    if (this.#ended) await locks.close();
    this.#locks = locks;
    return locks;
  }

  async close(): Promise<void> {
    this.#ended = true;
    await this.#locks?.close();
  }
}

/** After so many keys, a look lets other work of this process run. */
const KEYS_PER_TURN = 1_000;
/** The time between two checks of the engine's settings and rights, ms. */
const CHECK_INTERVAL_MS = 60_000;

export interface Surroundings {
  readonly access: Access;
  readonly board: Board;
  /** Only keys that begin with this text. */
  readonly prefix: string;
  readonly pace: Pace;
  readonly now: () => number;
  readonly onChange: () => void;
  /** Keys that `CloseUp` looks at, more often. */
  readonly focus: () => ReadonlySet<string>;
}

/** Looks at all keys. */
export class ListingLoop {
  readonly #around: Surroundings;
  readonly #cost = new Cost();
  #failures = 0;
  #checked = Number.NEGATIVE_INFINITY;
  /** The pause from the end of the last look until the next one, ms. */
  pause: number;

  constructor(around: Surroundings) {
    this.#around = around;
    this.pause = around.pace.least;
  }

  /** @returns the pause until the next look, ms */
  async once(goesOn: () => boolean): Promise<number> {
    const { board, now, onChange } = this.#around;
    board.looks = { ...board.looks, next: undefined };
    onChange();
    this.pause = await this.#pauseAfterLook(goesOn);
    board.looks = { ...board.looks, next: now() + this.pause, looked: undefined };
    onChange();
    return this.pause;
  }

  async #pauseAfterLook(goesOn: () => boolean): Promise<number> {
    const { access, board, pace, now } = this.#around;
    try {
      const locks = await access.locks();
      if (board.looks.state !== 'unable') await this.#list(locks, goesOn);
      await this.#check(locks);
      this.#failures = 0;
      return board.looks.state === 'unable' ? CHECK_INTERVAL_MS : this.#cost.pause(pace);
    } catch (error) {
      if (isLockError(error, 'LOCK_UNSUPPORTED') && access.opened) {
        board.looks = { state: 'unable', error: error.message };
        return 0; // so that the engine is checked at once
      }
      board.fail(error instanceof Error ? error.message : String(error), now());
      return retryAfter(++this.#failures);
    }
  }

  async #check(locks: Locks): Promise<void> {
    const { board, now } = this.#around;
    if (now() - this.#checked < CHECK_INTERVAL_MS) return;
    board.findings = await locks.check();
    this.#checked = now();
  }

  async #list(locks: Locks, goesOn: () => boolean): Promise<void> {
    const { board, prefix, now, onChange, focus } = this.#around;
    const began = now();
    const watch = new Stopwatch();
    board.begin();
    let key: string | undefined;
    let entries: QueueEntry[] = [];
    let taken = 0;
    const progress = (looked: number): void => {
      watch.lap();
      board.looks = { ...board.looks, looked };
      onChange();
    };
    const take = (): void => {
      if (key === undefined) return;
      // `CloseUp` looks at these keys, and may have found something newer.
      if (focus().has(key) && board.view(key)) board.meet(key);
      else board.see(key, entries, now());
    };
    for await (const entry of locks.inspect(prefix, { progress })) {
      if (!goesOn()) return;
      if (key !== entry.key) {
        take();
        entries = [];
        if (++taken % KEYS_PER_TURN === 0) await new Promise(setImmediate);
      }
      key = entry.key;
      entries.push(entry);
    }
    take();
    const at = now();
    watch.lap();
    this.#cost.add(busyFor(watch.laps));
    board.finish(at, at - began);
  }
}

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-/;

/** Looks at the keys of `focus`, each by its name, more often than `ListingLoop`. */
export class CloseUp {
  readonly #around: Surroundings;
  readonly #cost = new Cost();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** @returns the pause until the next look, ms */
  async once(goesOn: () => boolean): Promise<number> {
    const { access, board, focus, now, pace, onChange: changed } = this.#around;
    const watch = new Stopwatch();
    // Failures are not reported here: `ListingLoop` asks the same engine, and reports them.
    if (board.looks.state !== 'seen' || !access.opened) return pace.least;
    try {
      const locks = await access.locks();
      const { engine } = runtimeOf(locks, 'the page');
      const memos = new Map<string, { sight: MemoSight; at: number }>();
      const traces = new Map<string, string>();
      for (const key of focus()) {
        const entries = await listOf(locks.inspect(key, { exact: true }));
        if (!goesOn()) return 0;
        board.see(key, entries, now());
        for (const { token, origin } of entries) {
          const [, trace] = TRACEPARENT.exec(origin?.traceparent ?? '') ?? [];
          if (trace) traces.set(`${token} ${key}`, trace);
        }
        const sight = await sightOf(
          engine,
          key,
          entries.some(({ held }) => held),
        );
        if (sight) memos.set(key, { sight, at: now() });
      }
      board.memos = memos;
      board.traces = traces;
      watch.lap();
      board.deadlocks.look(board.views());
    } catch {
      return pace.least;
    }
    changed();
    this.#cost.add(busyFor(watch.laps));
    return this.#cost.pause(pace);
  }
}
