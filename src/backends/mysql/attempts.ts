/** What this process knows of one claim, beside what the table says. */
export interface AttemptState {
  /** Attempts under way. */
  asking: number;
  /** It was refused and has a place, so the next attempt need not join. */
  stands: boolean;
  /** It was given up during an attempt. */
  left: boolean;
}

/**
 * An attempt takes several statements, and its claim may be given up between two of them. Then the attempt must not join again, and
 * removes what it may have left.
 */
export class Attempts {
  readonly #attempts = new Map<string, AttemptState>();
  readonly #onLeave: (id: string) => void;

  /** @param onLeave called with the id of each claim that is given up */
  constructor(onLeave: (id: string) => void) {
    this.#onLeave = onLeave;
  }

  begin(id: string): Readonly<AttemptState> {
    const state = this.#attempts.get(id) ?? { asking: 0, stands: false, left: false };
    state.asking++;
    this.#attempts.set(id, state);
    return state;
  }

  /** @returns whether it was given up during the attempt */
  end(id: string, stands: boolean): boolean {
    const state = this.#attempts.get(id)!;
    state.asking--;
    state.stands = stands;
    if (state.asking === 0 && (!stands || state.left)) this.#attempts.delete(id);
    return state.left;
  }

  leave(id: string): void {
    this.#onLeave(id);
    const state = this.#attempts.get(id);
    if (!state) return;
    state.left = true;
    if (state.asking === 0) this.#attempts.delete(id);
  }
}
