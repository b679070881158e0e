/**
 * The one rule. All claims to a key stand in one queue, in the order of their tokens, and
 *
 *   a claim is admitted if its units and those of all claims before it fit the smallest capacity that one of these claims names.
 *
 * The rule is safe: the units of all admitted claims fit the smallest capacity that one of them names. The rule is fair: no refused claim is ahead of
 * an admitted one, so the admitted claims are always the head of the queue. It stays safe if all kinds of locks share one key. No engine has to store
 * which claims hold the key: order and units say that, so a crash cannot make it wrong.
 */
export interface Demand {
  /** The units that this claim takes. */
  readonly units: number;
  /** The number of all units of the key, as this claim says. */
  readonly capacity: number;
  /** Set for a writer. The rule ignores this; some engines store writers under another name. */
  readonly readWrite?: true;
}

/** The number of all units of a key: a mutex or a writer takes this many, and a reader names this number as the capacity. */
export const ALL_UNITS = 2 ** 31 - 1;

export const EXCLUSIVE: Demand = { units: ALL_UNITS, capacity: ALL_UNITS };
export const WRITER: Demand = { ...EXCLUSIVE, readWrite: true };
export const SHARED: Demand = { units: 1, capacity: ALL_UNITS };

/**
 * Whether a claim takes all units, such as a mutex or a writer, so that no other claim can hold the key beside it.
 * @example isExclusive({ units: ALL_UNITS, capacity: ALL_UNITS }); // true: a mutex, a writer
 */
export const isExclusive = (demand: Demand): boolean => demand.units === demand.capacity;

/** A claim in words: `exclusive` for mutexes and writers, `shared` for readers, `2 of 5` for permits. */
export type As = 'exclusive' | 'shared' | `${number} of ${number}`;

export function asOf(demand: Demand): As {
  if (isExclusive(demand)) return 'exclusive';
  return demand.capacity === ALL_UNITS ? 'shared' : `${demand.units} of ${demand.capacity}`;
}

/**
 * Counts the claims that are admitted, from the head of the queue.
 * @example
 * const reader = { units: 1, capacity: ALL_UNITS };
 * const writer = { units: ALL_UNITS, capacity: ALL_UNITS };
 * admitted([reader, reader, writer, reader]); // 2
 */
export function admitted(queue: Iterable<Demand>): number {
  const tally = new Tally();
  let count = 0;
  for (const demand of queue) {
    if (!tally.fits(demand)) break;
    tally.add(demand);
    count++;
  }
  return count;
}

/** A `Tally` keeps up to this many capacities, also those that no claim has any more: to add and delete one again and again would cost more. */
const MAX_UNUSED_CAPACITIES = 4;

/** Counts the units of the admitted claims, so that a step of the rule costs the same in a long queue as in a short one. */
export class Tally {
  #taken = 0;
  /** How many claims name each capacity. */
  readonly #capacities = new Map<number, number>();
  #capacity = Number.POSITIVE_INFINITY;

  fits(demand: Demand): boolean {
    return this.#taken + demand.units <= Math.min(this.#capacity, demand.capacity);
  }

  add(demand: Demand): void {
    this.#capacity = Math.min(this.#capacity, demand.capacity);
    this.#taken += demand.units;
    this.#capacities.set(demand.capacity, (this.#capacities.get(demand.capacity) ?? 0) + 1);
  }

  remove(demand: Demand): void {
    this.#taken -= demand.units;
    const named = this.#capacities.get(demand.capacity)! - 1;
    if (named === 0 && this.#capacities.size > MAX_UNUSED_CAPACITIES) this.#capacities.delete(demand.capacity);
    else this.#capacities.set(demand.capacity, named);
    if (named > 0 || demand.capacity !== this.#capacity) return;
    this.#capacity = Number.POSITIVE_INFINITY;
    for (const [capacity, claims] of this.#capacities)
      if (claims > 0 && capacity < this.#capacity) this.#capacity = capacity;
  }
}

/** A member of an `ArrivalQueue`, in only one queue at a time. Only the queue writes the fields other than `demand`. */
export interface QueueMember {
  readonly demand: Demand;
  /** Undefined: the member is in no queue. */
  place?: 'inside' | 'outside' | undefined;
  /** The neighbours in the order of arrival. */
  before?: QueueMember | undefined;
  after?: QueueMember | undefined;
}

/**
 * A queue in this process, in order of arrival, under the one rule. The members inside are its head, so a tally of their units decides whether the
 * next one enters. The queue is a linked list: a step costs the same for any number of members.
 */
export class ArrivalQueue<M extends QueueMember> {
  readonly #tally = new Tally();
  #first: QueueMember | undefined;
  #last: QueueMember | undefined;
  /** The first member that waits outside. Only the queue writes it. */
  head: M | undefined;

  get idle(): boolean {
    return this.#first === undefined;
  }

  get members(): M[] {
    const all: M[] = [];
    for (let member = this.#first; member; member = member.after) all.push(member as M);
    return all;
  }

  isInside({ place }: QueueMember): boolean {
    return place === 'inside';
  }

  /** Whether a new member would enter at once. */
  admits(demand: Demand): boolean {
    return this.head === undefined && this.#tally.fits(demand);
  }

  /** Adds a member at the end. @returns true when the member enters at once */
  join(member: M): boolean {
    const enters = this.head === undefined && this.#tally.fits(member.demand);
    if (enters) this.#tally.add(member.demand);
    else this.head ??= member;
    member.place = enters ? 'inside' : 'outside';
    member.before = this.#last;
    if (this.#last) this.#last.after = member;
    else this.#first = member;
    this.#last = member;
    return enters;
  }

  /** Removes a member, if it is still in the queue. @returns the members that enter in its place */
  leave(member: QueueMember): readonly M[] {
    this.#remove(member);
    const entering: M[] = [];
    for (let next: M | undefined = this.head; next && this.#tally.fits(next.demand); next = this.head) {
      this.#letIn(next);
      entering.push(next);
    }
    return entering;
  }

  /** Gives the member that would enter first if `member`, which is inside, left; undefined if none would. */
  successor(member: QueueMember): M | undefined {
    const { head } = this;
    if (!head || !this.isInside(member)) return undefined;
    this.#tally.remove(member.demand);
    const fits = this.#tally.fits(head.demand);
    this.#tally.add(member.demand);
    return fits ? head : undefined;
  }

  /** Lets the head enter in the place of a member that is inside. */
  replace(member: QueueMember, head: M): void {
    this.#remove(member);
    this.#letIn(head);
  }

  #letIn(head: M): void {
    this.#tally.add(head.demand);
    head.place = 'inside';
    this.head = head.after as M | undefined;
  }

  #remove(member: QueueMember): void {
    const { place, before, after } = member;
    if (place === undefined) return;
    if (place === 'inside') this.#tally.remove(member.demand);
    else if (member === this.head) this.head = after as M | undefined;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    member.place = undefined;
    member.before = undefined;
    member.after = undefined;
  }
}
