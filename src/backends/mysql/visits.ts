/** What this process knows of one claim, besides what the table says. */
export interface Visit {
  /** Attempts under way. */
  asking: number;
  /** It was refused and has a place: the next attempt need not join. */
  stands: boolean;
  /** It was given up meanwhile. */
  left: boolean;
}

/**
 * Attempts take several statements, and a claim may be given up between two of them. Whoever is still asking then must
 * not join again, and clears away what may have come of it.
 */
export class Visits {
  readonly #visits = new Map<string, Visit>();

  begin(id: string): Readonly<Visit> {
    const visit = this.#visits.get(id) ?? { asking: 0, stands: false, left: false };
    visit.asking++;
    this.#visits.set(id, visit);
    return visit;
  }

  /** @returns whether it was given up meanwhile */
  end(id: string, stands: boolean): boolean {
    const visit = this.#visits.get(id)!;
    visit.asking--;
    visit.stands = stands;
    if (visit.asking === 0 && (!stands || visit.left)) this.#visits.delete(id);
    return visit.left;
  }

  leave(id: string): void {
    const visit = this.#visits.get(id);
    if (!visit) return;
    visit.left = true;
    if (visit.asking === 0) this.#visits.delete(id);
  }
}
