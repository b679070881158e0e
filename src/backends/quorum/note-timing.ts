import type { NextProcess } from './next-note.ts';

/**
 * After this wait a process asks to be next: before that, chance serves it sooner. It is given in ms, and in round
 * trips to the nodes: the note takes several of these, and during them no process asks.
 */
const PATIENCE = 20;
const ROUND_TRIPS = 16;
/** How often a process reads the note, ms, if it is next itself or gets the key again and again. */
export const LOOK = 25;
/** How often the next holder renews its note, and how much longer than that the note lasts, ms. */
export const RENEW_AFTER = 80;
const LASTS = 170;
/**
 * A long wait makes the note last longer: by this share of the wait, and by at most this time, ms. A dead next holder delays the others by
 * as much.
 */
const LONGER = 0.05;
const LONGEST = 5_000;
/** After this wait a process spares the nodes: it asks one node whether the note is as before, and only when that may matter, ms. */
const LONG = 1_000;
/**
 * The longest pause of the next holder between two attempts, and some time for the nodes to answer, ms. Its note lasts longer than that.
 */
const PAUSES = 800;
/** The longest time for which a process behind the next holder does not look at the note, ms. */
const RESTS = 2_000;

/** What a process knows of its use of a key. */
export interface KeyUse {
  /** The time since which this process has been refused; undefined if it was granted since. */
  waitsSince: number | undefined;
  /** The time of the last refusal. */
  refusedAt: number;
  /** The time of the last release by this process. */
  releasedAt: number;
  /** True if other processes may wait: this process was refused before its grant, or asked again just after its release. */
  contended: boolean;
  /** The time of the last read of the note, and the read that is under way. */
  readAt: number;
  reading: Promise<void> | undefined;
  /** The time of the first and of the latest note in which this process names itself. */
  noteSince: number | undefined;
  noteAt: number;
  /** The other process that is next, and the earliest time at which its note can have been written. */
  next: (NextProcess & { readonly writtenAt: number }) | undefined;
}

/** Gives how long a process waits before it asks to be next, ms. */
export const patienceOf = (roundTrip: number): number => Math.max(PATIENCE, ROUND_TRIPS * roundTrip);

/** Gives how long a note lasts, ms. */
export const lifeOf = (waited: number, roundTrip: number): number =>
  RENEW_AFTER + LASTS + 4 * roundTrip + Math.min(LONGEST, waited * LONGER);

/** True if a process may ask without a look at the note: no long waiter is known, or it is next itself and its note lasts. */
export function mayAsk(
  { next, waitsSince, noteSince, readAt, noteAt }: KeyUse,
  now: number,
  roundTrip: number,
): boolean {
  if (next) return false;
  if (noteSince === undefined) return waitsSince === undefined || now - waitsSince < patienceOf(roundTrip);
  const waited = noteAt - (waitsSince ?? noteAt);
  return now - readAt < (waited < LONG ? LOOK : Math.max(LOOK, lifeOf(waited, roundTrip) - PAUSES));
}

/** True if this process has waited for so long that it spares the nodes. */
export const waitsLong = ({ waitsSince = Number.POSITIVE_INFINITY }: KeyUse, now: number): boolean =>
  now - waitsSince >= LONG;

/** True if another process is next, and this one has waited for so long that it need not know at once when that changes. */
export function mayRest(use: KeyUse, now: number): boolean {
  const { next, waitsSince = now, readAt } = use;
  return next !== undefined && waitsLong(use, now) && now - readAt < Math.min(RESTS, (now - waitsSince) * LONGER);
}
