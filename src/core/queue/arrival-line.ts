import { Tally, type Units } from '../contract/admission.ts';

/** Up to this number, members are kept in an array and searched one by one: filling and emptying a Set again and again costs more. */
const FEW = 16;

interface Member {
  readonly seats: Units;
}

/**
 * The members inside, in the order in which they came, each once, with a tally of their units. The cost per step does not grow with their
 * number.
 */
class Inside<M extends Member> extends Tally {
  readonly #few: M[] = [];
  /** All of them, as long as they are more than a few. */
  #many: Set<M> | undefined;

  get size(): number {
    return this.#many?.size ?? this.#few.length;
  }

  has(member: Member): boolean {
    return (this.#many as Set<Member> | undefined)?.has(member) ?? (this.#few as Member[]).includes(member);
  }

  /** Whether a newcomer fits beside all members but this one. */
  fitsWithout(member: Member, seats: Units): boolean {
    this.remove(member.seats);
    const fits = this.fits(seats);
    this.add(member.seats);
    return fits;
  }

  enter(member: M): void {
    this.add(member.seats);
    if (this.#many) this.#many.add(member);
    else if (this.#few.push(member) > FEW) this.#many = new Set(this.#few.splice(0));
  }

  /** @returns whether it was there */
  leave(member: Member): boolean {
    if (this.#many) {
      if (!(this.#many as Set<Member>).delete(member)) return false;
      if (this.#many.size === 0) this.#many = undefined;
    } else {
      const at = (this.#few as Member[]).indexOf(member);
      if (at < 0) return false;
      this.#few.copyWithin(at, at + 1).pop();
    }
    this.remove(member.seats);
    return true;
  }

  [Symbol.iterator](): Iterator<M> {
    return (this.#many ?? this.#few)[Symbol.iterator]();
  }
}

const NOBODY: readonly never[] = [];

/** A line in this process, in order of arrival, under the one rule. The members inside are a prefix of it, so a tally of them decides. */
export class ArrivalLine<M extends Member> {
  readonly #inside = new Inside<M>();
  readonly #outside = new Set<M>();

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

  isInside(member: Member): boolean {
    return this.#inside.has(member);
  }

  /** Whether a newcomer could enter. */
  admits(seats: Units): boolean {
    return this.#outside.size === 0 && this.#inside.fits(seats);
  }

  /** Joins at the end. @returns true when the member enters at once */
  join(member: M): boolean {
    if (!this.admits(member.seats)) {
      this.#outside.add(member);
      return false;
    }
    this.#inside.enter(member);
    return true;
  }

  /** Leaves, if the member is still there. @returns the members that enter in its place */
  leave(member: Member): readonly M[] {
    if (!this.#inside.leave(member)) (this.#outside as Set<Member>).delete(member);
    if (this.#outside.size === 0) return NOBODY;
    const entering: M[] = [];
    for (const next of this.#outside) {
      if (!this.#inside.fits(next.seats)) break;
      this.#outside.delete(next);
      this.#inside.enter(next);
      entering.push(next);
    }
    return entering;
  }

  /** Gives the member that would enter first if this one, which is inside, left. */
  successor(member: Member): M | undefined {
    const { head } = this;
    if (!head || !this.#inside.has(member)) return undefined;
    return this.#inside.fitsWithout(member, head.seats) ? head : undefined;
  }

  /** Lets the head enter in the place of a member that is inside. */
  replace(member: Member, head: M): void {
    this.#outside.delete(head);
    this.#inside.leave(member);
    this.#inside.enter(head);
  }
}
