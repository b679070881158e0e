/** What this process knows of one claim, beside what the table says. */
export interface Visit {
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
export class Visits {
  readonly #visits = new Map<string, Visit>();

  begin(id: string): Readonly<Visit> {
    const visit = this.#visits.get(id) ?? { asking: 0, stands: false, left: false };
    visit.asking++;
    this.#visits.set(id, visit);
    return visit;
  }

  /** @returns whether it was given up during the attempt */
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
