/**
 * The one rule. All claims to a key stand in one line, in the order of their tokens, and
 *
 *   a claim is admitted when all units taken up to and including it fit the smallest room named among them.
 *
 * It is safe: the claim that is admitted last has counted all others, in a room that is no larger than theirs. It is fair: no refused
 * claim is ahead of an admitted one, so the admitted claims are always the head of the line. It stays sound when kinds are mixed on one
 * key. And nobody has to store which claims hold the key: that follows from order and units, so no crash can leave it wrong.
 */
export interface Units {
  /** The units that this claim takes. */
  readonly units: number;
  /** The number of units that this claim says there are. */
  readonly capacity: number;
  /** It is set for a lock that has readers, too. The rule ignores it; some engines store such claims under another name. */
  readonly readWrite?: true;
}

/** Every unit there is: what a mutex or a writer takes, and the room a reader sits in. */
export const ALL_UNITS = 2 ** 31 - 1;

export const EXCLUSIVE: Units = { units: ALL_UNITS, capacity: ALL_UNITS };
export const WRITER: Units = { ...EXCLUSIVE, readWrite: true };
export const SHARED: Units = { units: 1, capacity: ALL_UNITS };

/**
 * Whether a claim takes all units there are, so that nobody holds beside it: mutexes and writers.
 * @example isExclusive({ units: ALL_UNITS, capacity: ALL_UNITS }); // true: a mutex, a writer
 */
export const isExclusive = (seats: Units): boolean => seats.units === seats.capacity;

/** A claim in words: `exclusive` for mutexes and writers, `shared` for readers, `2 of 5` for permits. */
export type As = 'exclusive' | 'shared' | `${number} of ${number}`;

export function asOf(seats: Units): As {
  if (isExclusive(seats)) return 'exclusive';
  return seats.capacity === ALL_UNITS ? 'shared' : `${seats.units} of ${seats.capacity}`;
}

/**
 * Counts the claims that are admitted, from the head of the line.
 * @example
 * const reader = { units: 1, capacity: ALL_UNITS };
 * const writer = { units: ALL_UNITS, capacity: ALL_UNITS };
 * admitted([reader, reader, writer, reader]); // 2
 */
export function admitted(line: Iterable<Units>): number {
  const tally = new Tally();
  let count = 0;
  for (const seats of line) {
    if (!tally.take(seats)) break;
    count++;
  }
  return count;
}

/** The number of rooms that are kept though no claim names them: filling and emptying a Map again and again costs more. */
const FEW = 4;

/** Keeps the units of an admitted prefix, so that a step of the rule costs the same in a long line as in a short one. */
export class Tally {
  #taken = 0;
  /** How many claims name each room. */
  readonly #rooms = new Map<number, number>();
  #room = Number.POSITIVE_INFINITY;

  fits(seats: Units): boolean {
    return this.#taken + seats.units <= Math.min(this.#room, seats.capacity);
  }

  add(seats: Units): void {
    this.#room = Math.min(this.#room, seats.capacity);
    this.#taken += seats.units;
    this.#rooms.set(seats.capacity, (this.#rooms.get(seats.capacity) ?? 0) + 1);
  }

  /** Adds the units, if they fit. @returns whether they do */
  take(seats: Units): boolean {
    if (!this.fits(seats)) return false;
    this.add(seats);
    return true;
  }

  remove(seats: Units): void {
    this.#taken -= seats.units;
    const left = this.#rooms.get(seats.capacity)! - 1;
    if (left === 0 && this.#rooms.size > FEW) this.#rooms.delete(seats.capacity);
    else this.#rooms.set(seats.capacity, left);
    if (left > 0 || seats.capacity !== this.#room) return;
    this.#room = Number.POSITIVE_INFINITY;
    for (const [room, named] of this.#rooms) if (named > 0 && room < this.#room) this.#room = room;
  }
}
