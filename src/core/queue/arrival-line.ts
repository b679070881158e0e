import { Tally, type Units } from '../contract/admission.ts';

/** Up to this number, members are kept in an array and searched one by one: filling and emptying a Set again and again costs more. */
const MAX_SEARCHED = 16;

interface Member {
  readonly seats: Units;
}

const NOBODY: readonly never[] = [];

/**
 * A queue in this process, in order of arrival, under the one rule. The members inside are a prefix of it, so a tally of them decides. The
 * cost per step does not grow with their number.
 */
export class ArrivalLine<M extends Member> {
  readonly #tally = new Tally();
  /** The members inside, each once, in the order in which they came. */
  #inside: Member[] | Set<Member> = [];
  readonly #outside = new Set<M>();

  get idle(): boolean {
    return this.#outside.size === 0 && (Array.isArray(this.#inside) ? this.#inside.length : this.#inside.size) === 0;
  }

  /** The first member that waits outside. */
  get head(): M | undefined {
    return this.#outside.size === 0 ? undefined : this.#outside.values().next().value;
  }

  get members(): M[] {
    return [...(this.#inside as Iterable<M>), ...this.#outside];
  }

  isInside(member: Member): boolean {
    return Array.isArray(this.#inside) ? this.#inside.includes(member) : this.#inside.has(member);
  }

  /** Whether a newcomer could enter. */
  admits(seats: Units): boolean {
    return this.#outside.size === 0 && this.#tally.fits(seats);
  }

  /** Joins at the end. @returns true when the member enters at once */
  join(member: M): boolean {
    const enters = this.#outside.size === 0 && this.#tally.take(member.seats);
    if (enters) this.#keep(member);
    else this.#outside.add(member);
    return enters;
  }

  /** Leaves, if the member is still there. @returns the members that enter in its place */
  leave(member: Member): readonly M[] {
    if (!this.#drop(member)) this.#outside.delete(member as M);
    if (this.#outside.size === 0) return NOBODY;
    const entering: M[] = [];
    for (const next of this.#outside) {
      if (!this.#tally.take(next.seats)) break;
      this.#outside.delete(next);
      this.#keep(next);
      entering.push(next);
    }
    return entering;
  }

  /** Gives the member that would enter first if this one, which is inside, left. */
  successor(member: Member): M | undefined {
    const { head } = this;
    if (!head || !this.isInside(member)) return undefined;
    this.#tally.remove(member.seats);
    const fits = this.#tally.fits(head.seats);
    this.#tally.add(member.seats);
    return fits ? head : undefined;
  }

  /** Lets the head enter in the place of a member that is inside. */
  replace(member: Member, head: M): void {
    this.#outside.delete(head);
    this.#drop(member);
    this.#tally.add(head.seats);
    this.#keep(head);
  }

  #keep(member: M): void {
    if (!Array.isArray(this.#inside)) this.#inside.add(member);
    else if (this.#inside.push(member) > MAX_SEARCHED) this.#inside = new Set(this.#inside);
  }

  /** @returns whether it was inside */
  #drop(member: Member): boolean {
    if (Array.isArray(this.#inside)) {
      const at = this.#inside.indexOf(member);
      if (at < 0) return false;
      this.#inside.copyWithin(at, at + 1).pop();
    } else {
      if (!this.#inside.delete(member)) return false;
      if (this.#inside.size === 0) this.#inside = [];
    }
    this.#tally.remove(member.seats);
    return true;
  }
}
