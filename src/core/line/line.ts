import { type Seats, Tally } from '../contract/admission.ts';
import { Members } from '../contract/members.ts';

const NOBODY: readonly never[] = [];

/** A line in this process, in order of arrival, under the one rule. Who is inside is a prefix, so a tally of it decides. */
export class ArrivalLine<M extends { readonly seats: Seats }> {
  readonly #inside = new Members<M>();
  readonly #outside = new Set<M>();
  readonly #tally = new Tally();

  get idle(): boolean {
    return this.#inside.size === 0 && this.#outside.size === 0;
  }

  /** First of those who wait outside. */
  get head(): M | undefined {
    return this.#outside.size === 0 ? undefined : this.#outside.values().next().value;
  }

  get members(): M[] {
    return [...this.#inside, ...this.#outside];
  }

  isInside(member: M): boolean {
    return this.#inside.has(member);
  }

  /** Whether a newcomer would be let in. */
  admits(seats: Seats): boolean {
    return this.#outside.size === 0 && this.#tally.fits(seats);
  }

  /** Joins at the end; true when it is let in at once. */
  join(member: M): boolean {
    if (!this.admits(member.seats)) {
      this.#outside.add(member);
      return false;
    }
    this.#enter(member);
    return true;
  }

  /** Leaves from wherever it stands, if it still does, and gives those who may come in now. */
  leave(member: M): readonly M[] {
    if (!this.#exit(member)) this.#outside.delete(member);
    if (this.#outside.size === 0) return NOBODY;
    const entering: M[] = [];
    for (const next of this.#outside) {
      if (!this.#tally.fits(next.seats)) break;
      this.#outside.delete(next);
      this.#enter(next);
      entering.push(next);
    }
    return entering;
  }

  /** Who would be let in first if this member, which is inside, left. */
  successor(member: M): M | undefined {
    const { head } = this;
    if (!head || !this.#inside.has(member)) return undefined;
    this.#tally.remove(member.seats);
    const fits = this.#tally.fits(head.seats);
    this.#tally.add(member.seats);
    return fits ? head : undefined;
  }

  /** The head comes in for a member that is inside. */
  replace(member: M, head: M): void {
    this.#outside.delete(head);
    this.#exit(member);
    this.#enter(head);
  }

  #enter(member: M): void {
    this.#inside.add(member);
    this.#tally.add(member.seats);
  }

  #exit(member: M): boolean {
    if (!this.#inside.delete(member)) return false;
    this.#tally.remove(member.seats);
    return true;
  }
}
