import { type Seats, Tally } from '../contract/admission.ts';
import { Members } from '../contract/members.ts';

const NOBODY: readonly never[] = [];

/** A line in this process, in order of arrival, under the one rule. The members inside are a prefix of it, so a tally of them decides. */
export class ArrivalLine<M extends { readonly seats: Seats }> {
  readonly #inside = new Members<M>();
  readonly #outside = new Set<M>();
  readonly #tally = new Tally();

  get idle(): boolean {
    return this.#inside.size === 0 && this.#outside.size === 0;
  }

  /** The first member that waits outside. */
  get head(): M | undefined {
    return this.#outside.size === 0 ? undefined : this.#outside.values().next().value;
  }

  get members(): M[] {
    return [...this.#inside, ...this.#outside];
  }

  isInside(member: M): boolean {
    return this.#inside.has(member);
  }

  /** Whether a newcomer could enter. */
  admits(seats: Seats): boolean {
    return this.#outside.size === 0 && this.#tally.fits(seats);
  }

  /** Joins at the end. @returns true when the member enters at once */
  join(member: M): boolean {
    if (!this.admits(member.seats)) {
      this.#outside.add(member);
      return false;
    }
    this.#enter(member);
    return true;
  }

  /** Leaves, if the member is still there. @returns the members that enter in its place */
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

  /** The member that would enter first if this one, which is inside, left. */
  successor(member: M): M | undefined {
    const { head } = this;
    if (!head || !this.#inside.has(member)) return undefined;
    this.#tally.remove(member.seats);
    const fits = this.#tally.fits(head.seats);
    this.#tally.add(member.seats);
    return fits ? head : undefined;
  }

  /** The head enters in the place of a member that is inside. */
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
