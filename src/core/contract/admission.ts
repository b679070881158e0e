/**
 * The one rule. All claims to a key stand in one line, in the order of their tokens, and
 *
 *   a claim is admitted when all seats taken up to and including it fit the smallest room named among them.
 *
 * It is safe: the claim that is admitted last has counted all others, in a room that is no larger than theirs. It is fair: no refused
 * claim is ahead of an admitted one, so the admitted claims are always the head of the line. It stays sound when kinds are mixed on one
 * key. And nobody has to store which claims hold the key: that follows from order and seats, so no crash can leave it wrong.
 */
export interface Seats {
  /** The seats that this claim takes. */
  readonly take: number;
  /** The number of seats that this claim says there are. */
  readonly of: number;
  /** It is set for a lock that has readers, too. The rule ignores it; some engines store such claims under another name. */
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

/** A claim in words: `exclusive` for mutexes and writers, `shared` for readers, `2 of 5` for permits. */
export type As = 'exclusive' | 'shared' | `${number} of ${number}`;

export function asOf(seats: Seats): As {
  if (isExclusive(seats)) return 'exclusive';
  return seats.of === ALL_SEATS ? 'shared' : `${seats.take} of ${seats.of}`;
}

/**
 * Counts the claims that are admitted, from the head of the line.
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

/** The number of rooms that are kept though no claim names them: filling and emptying a Map again and again costs more. */
const FEW = 4;

/** Keeps the seats of an admitted prefix, so that a step of the rule costs the same in a long line as in a short one. */
export class Tally {
  #taken = 0;
  /** How many claims name each room. */
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
