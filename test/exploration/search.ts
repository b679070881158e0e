import { type Choose, independent, type Move } from './moves.ts';

interface Point {
  /** What is tried here, one after the other. */
  readonly candidates: readonly Move[];
  tried: number;
  /** What need not be tried here: it was tried before, and has led to the same states. */
  readonly asleep: readonly Move[];
  /** How often something else than the first was chosen before. */
  readonly turns: number;
}

/**
 * Every schedule, depth first and without keeping states: each run begins anew. Of schedules that differ only in the order of moves
 * that touch nothing in common one is run (sleep sets: P. Godefroid, "Partial-Order Methods for the Verification of Concurrent
 * Systems", LNCS 1032, 1996). A bound of faults does not spoil that: schedules that are the same but for such an order have the
 * same faults.
 *
 * With a limit of turns every schedule is run that differs so often, at most, from the one in which always the first happens (after
 * M. Emmi, S. Qadeer, Z. Rakamarić, "Delay-Bounded Scheduling", POPL 2011): far fewer, and those in which most bugs show.
 */
export class Search {
  readonly #points: Point[] = [];
  readonly #turns: number;
  #over = false;

  constructor(turns = Number.POSITIVE_INFINITY) {
    this.#turns = turns;
  }

  /** Every schedule was run. */
  get over(): boolean {
    return this.#over;
  }

  /** For one run: first the way to where something else is tried, then the first of all that may happen. */
  begin(): Choose {
    let depth = 0;
    return (moves) => {
      const known = this.#points[depth];
      const point = known ?? this.#point(moves, this.#points[depth - 1]);
      if (!known) {
        if (point.candidates.length === 0) return undefined;
        this.#points.push(point);
      }
      depth++;
      const chosen = point.candidates[point.tried]!;
      if (!moves.some(({ text }) => text === chosen.text))
        throw new Error(`a run is not the same every time: ${chosen.text} was possible before, and is not now`);
      return chosen;
    };
  }

  /** After a run: to the last point where something else may be tried. */
  next(): void {
    for (;;) {
      const last = this.#points.at(-1);
      if (!last) {
        this.#over = true;
        return;
      }
      last.tried++;
      if (last.tried < last.candidates.length) return;
      this.#points.pop();
    }
  }

  #point(moves: readonly Move[], before: Point | undefined): Point {
    const turns = before ? before.turns + (before.tried > 0 ? 1 : 0) : 0;
    if (this.#turns < Number.POSITIVE_INFINITY)
      return { candidates: turns < this.#turns ? moves : moves.slice(0, 1), tried: 0, asleep: [], turns };
    const taken = before?.candidates[before.tried];
    const done = before ? [...before.asleep, ...before.candidates.slice(0, before.tried)] : [];
    const asleep = taken ? done.filter((move) => independent(move, taken)) : [];
    const sleeping = new Set(asleep.map(({ text }) => text));
    return { candidates: moves.filter(({ text }) => !sleeping.has(text)), tried: 0, asleep, turns };
  }
}
