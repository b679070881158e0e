/** So many names are kept, at most. Of those that come later nobody is told. */
const MOST = 1_000;
/** One tick may be missed by accident; a schedule misses them all. */
const ENOUGH = 2;

interface MissedTicks {
  readonly due: number;
  readonly ticks: number;
}

/** Finds names of which every tick was late or early so far, and names of which a tick is no whole second. */
export class Punctuality {
  readonly #fractions = new Set<string>();
  /** Undefined: there is nothing to tell, since a tick was young, or it was told. */
  readonly #names = new Map<string, MissedTicks | undefined>();

  /** @returns whether the tick is the first one of its name that is no whole second: it looks like the time of a call */
  noteFraction(name: string, due: number): boolean {
    if (due % 1_000 === 0 || this.#fractions.size >= MOST || this.#fractions.has(name)) return false;
    this.#fractions.add(name);
    return true;
  }

  noteMet(name: string): void {
    this.#keep(name, undefined);
  }

  /**
   * @param due of a tick that was missed
   * @returns how many ticks of the name were missed, if it is time to tell that, once for each name
   */
  noteMissed(name: string, due: number): number | undefined {
    const before = this.#names.get(name);
    if (this.#names.has(name) && (!before || before.due === due)) return undefined;
    const ticks = (before?.ticks ?? 0) + 1;
    this.#keep(name, ticks < ENOUGH ? { due, ticks } : undefined);
    return ticks < ENOUGH ? undefined : ticks;
  }

  #keep(name: string, what: MissedTicks | undefined): void {
    if (this.#names.size < MOST || this.#names.has(name)) this.#names.set(name, what);
  }
}
