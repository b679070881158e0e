import { listOf } from '../core/contract/promises.ts';
import { runtimeOf } from '../locks.ts';
import { type MemoSight, sightOf } from '../memo/state.ts';
import type { Surroundings } from './listing.ts';
import { busyFor, Cost, Stopwatch } from './pace.ts';

/** Looks at the open keys, each by its name, more often than at all keys. */
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
    // The listing reports failures, since it asks the same engine.
    if (board.looks.state !== 'seen' || !access.opened) return pace.least;
    try {
      const locks = await access.locks();
      const { engine } = runtimeOf(locks, 'the page');
      const memos = new Map<string, { sight: MemoSight; at: number }>();
      for (const key of focus()) {
        const standings = await listOf(locks.inspect(key, { exact: true }));
        if (!goesOn()) return 0;
        board.see(key, standings, now());
        const sight = await sightOf(
          engine,
          key,
          standings.some(({ held }) => held),
        );
        if (sight) memos.set(key, { sight, at: now() });
      }
      board.memos = memos;
      watch.lap();
      board.deadlocks.look(board.lines());
    } catch {
      return pace.least;
    }
    changed();
    this.#cost.add(busyFor(watch.laps));
    return this.#cost.pause(pace);
  }
}
