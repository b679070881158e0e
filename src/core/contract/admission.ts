/**
 * The one rule. Everyone who wants a key stands in one line, in the order of their tickets, and
 *
 *   a claim is admitted when all seats taken up to and including it fit the smallest room named among them.
 *
 * Safe: whoever is admitted last has counted all the others, in a room no larger than anyone's. Fair: whoever is admitted
 * has nobody refused ahead of them, so the admitted are always a prefix of the line. Sound when kinds are mixed on one key.
 * And nothing has to be stored to know who holds: it follows from order and seats, so no crash can leave it wrong.
 */
export interface Seats {
  /** Seats this claim takes. */
  readonly take: number;
  /** Seats there are, in the eyes of this claim. */
  readonly of: number;
  /** Of a lock that has readers too. The rule never asks; it is for engines whose layout has another name for these. */
  readonly readWrite?: true;
}

/** Every seat there is: what a mutex or a writer takes, and the room a reader sits in. */
export const ALL_SEATS = 2 ** 31 - 1;

export const EXCLUSIVE: Seats = { take: ALL_SEATS, of: ALL_SEATS };
export const WRITER: Seats = { ...EXCLUSIVE, readWrite: true };
export const SHARED: Seats = { take: 1, of: ALL_SEATS };

/**
 * Whether a claim takes all seats there are, so that nobody holds beside it: mutexes and writers.
 * @example isExclusive({ take: ALL_SEATS, of: ALL_SEATS }); // true: a mutex, a writer
 */
export const isExclusive = (seats: Seats): boolean => seats.take === seats.of;

/** A claim in words: `exclusive` for mutexes and writers, `shared` for readers, and so many permits of how many. */
export type As = 'exclusive' | 'shared' | `${number} of ${number}`;

export function asOf(seats: Seats): As {
  if (isExclusive(seats)) return 'exclusive';
  return seats.of === ALL_SEATS ? 'shared' : `${seats.take} of ${seats.of}`;
}

/**
 * How many claims, counted from the head of the line, are admitted.
 * @example
 * const reader = { take: 1, of: ALL_SEATS };
 * const writer = { take: ALL_SEATS, of: ALL_SEATS };
 * admitted([reader, reader, writer, reader]); // 2
 */
export function admitted(line: Iterable<Seats>): number {
  const tally = new Tally();
  let count = 0;
  for (const seats of line) {
    if (!tally.fits(seats)) break;
    tally.add(seats);
    count++;
  }
  return count;
}

/** Rooms kept for when they are named again: a Map that is filled and emptied again and again costs more. */
const FEW = 4;

/** The rule with a memory: the seats of an admitted prefix, so that a long line costs the same per step as a short one. */
export class Tally {
  #taken = 0;
  /** How many name it. */
  readonly #rooms = new Map<number, number>();
  #room = Number.POSITIVE_INFINITY;

  fits(seats: Seats): boolean {
    return this.#taken + seats.take <= Math.min(this.#room, seats.of);
  }

  add(seats: Seats): void {
    this.#taken += seats.take;
    this.#rooms.set(seats.of, (this.#rooms.get(seats.of) ?? 0) + 1);
    this.#room = Math.min(this.#room, seats.of);
  }

  remove(seats: Seats): void {
    this.#taken -= seats.take;
    const left = this.#rooms.get(seats.of)! - 1;
    if (left === 0 && this.#rooms.size > FEW) this.#rooms.delete(seats.of);
    else this.#rooms.set(seats.of, left);
    if (left > 0 || seats.of !== this.#room) return;
    this.#room = Number.POSITIVE_INFINITY;
    for (const [room, named] of this.#rooms) if (named > 0 && room < this.#room) this.#room = room;
  }
}
