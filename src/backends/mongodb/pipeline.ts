/**
 * Pure functions that build the change of one key's document: an aggregation pipeline, so that the server does it in one step, by its
 * own clock. The time is `$$NOW`, or the time of the last change if that is later. A router fills in its own time, a delayed message
 * brings an old one, and the clocks of members differ. So the time of a key never goes back. The last stage writes the line and
 *
 *   v     the form of the document; a document in another form stays as it was
 *   last  the highest token given or reserved
 *   freed whether a departure found its claim
 *   now   the time, as above
 *   idle  when the document is of no more use: for the TTL index
 *   words, attempts  what was left under the key, and the holds that left nothing (words-pipeline.ts), until they are over
 */
import { type Claim, placeTtlOf } from '../../core/index.ts';

export type Stage = Readonly<Record<string, unknown>>;

export const FORM = 1;
/** The mark in front keeps a key from being empty, or an operator. */
export const idOf = (key: string): string => `=${key}`;
export const keyOf = (id: string): string => id.slice(1);

/** An attempt joins the line, or is a sign of life. After `notAfter`, by the server's clock, it does not join. */
export const attempting = (claim: Claim, notAfter?: Date): Stage[] => [
  ...OPEN,
  join(claim, notAfter),
  refresh(claim, latestExpiry),
  CLOSE,
];

/** After `notAfter` a renewal changes nothing. */
export const renewing = (claim: Claim, notAfter?: Date): Stage[] => [
  ...OPEN,
  refresh(claim, newExpiry, notAfter),
  CLOSE,
];

/** A departure, by id, or by token if it is forced. The next claim of the process joins in the same step. */
export const leaving = (who: Leaver, next?: Claim, notAfter?: Date): Stage[] => [
  ...OPEN,
  leave(who),
  ...(next ? [join(next, notAfter), refresh(next, latestExpiry)] : []),
  CLOSE,
];

export type Leaver = { readonly id: string } | { readonly token: bigint };

/** Removes the claims that have expired. */
export const OPEN: readonly Stage[] = [
  { $set: { was: '$$ROOT', now: { $max: ['$$NOW', '$now'] } } },
  { $set: { line: { $filter: { input: { $ifNull: ['$line', []] }, cond: { $gt: ['$$this.expires', '$now'] } } } } },
];

function leave(who: Leaver): Stage {
  const [[field, value]] = Object.entries(who) as [[string, string | bigint]];
  const others = { $filter: { input: '$line', cond: { $ne: [`$$this.${field}`, value] } } };
  return { $set: { freed: { $in: [value, `$line.${field}`] }, line: others } };
}

/** @param given further conditions */
export function join(claim: Claim, notAfter: Date | undefined, given: readonly object[] = []): Stage {
  const { id, units, capacity, tokenCount, queue, minToken, label } = claim;
  // With the time in µs, tokens also grow after a document was removed or lost.
  const time = { $multiply: [{ $toLong: '$now' }, 1_000] };
  const token = { $max: [{ $add: ['$last', 1] }, time, ...(minToken === undefined ? [] : [minToken])] };
  const joins = {
    $and: [
      { $not: [{ $in: [id, '$line.id'] }] },
      ...given,
      ...inTime(notAfter),
      ...(queue
        ? []
        : [{ $lte: [{ $add: [{ $sum: '$line.units' }, units] }, { $min: [{ $min: '$line.capacity' }, capacity] }] }]),
    ],
  };
  const place = { id, token, units, capacity, label: { $literal: label }, joined: '$now', expires: '$now' };
  return {
    $set: {
      line: { $cond: [joins, { $concatArrays: ['$line', [place]] }, '$line'] },
      last: { $cond: [joins, { $add: [token, tokenCount - 1] }, '$last'] },
    },
  };
}

export const inTime = (notAfter: Date | undefined): object[] => (notAfter ? [{ $lte: ['$now', notAfter] }] : []);

/** A renewal sets the expiry. A repeated attempt may be an old message, so it never makes a claim expire sooner. */
const newExpiry = (expires: object): object => expires;
export const latestExpiry = (expires: object): object => ({ $max: ['$$this.expires', expires] });

/** Sets the claim to expire after its ttl if it is admitted, after a shorter time while it waits. */
export function refresh(claim: Claim, as: typeof latestExpiry, notAfter?: Date): Stage {
  const left = { $cond: [ADMITTED, claim.ttl, placeTtlOf(claim)] };
  const alive = { $mergeObjects: ['$$this', { expires: as({ $add: ['$now', left] }) }] };
  const mine = { $and: [{ $eq: ['$$this.id', claim.id] }, ...inTime(notAfter)] };
  return { $set: { line: { $map: { input: '$line', in: { $cond: [mine, alive, '$$this'] } } } } };
}

/** The rule, for `$$this` place: all units taken up to this place, with its own, fit the smallest room named among them. */
export const ADMITTED = {
  $let: {
    vars: { upTo: { $filter: { input: '$line', as: 'other', cond: { $lte: ['$$other.token', '$$this.token'] } } } },
    in: { $lte: [{ $sum: '$$upTo.units' }, { $min: '$$upTo.capacity' }] },
  },
};

export const CLOSE: Stage = {
  $replaceWith: {
    $cond: [
      { $eq: [{ $ifNull: ['$was.v', FORM] }, FORM] },
      {
        _id: '$_id',
        v: FORM,
        line: '$line',
        last: '$last',
        freed: '$freed',
        now: '$now',
        words: { $cond: [{ $gt: ['$words.until', '$now'] }, '$words', '$$REMOVE'] },
        attempts: { $cond: [{ $gt: ['$attempts.counts', '$now'] }, '$attempts', '$$REMOVE'] },
        // Not before the time is later than its tokens, since the tokens of the next document begin with the time.
        idle: {
          $max: [
            '$now',
            { $max: '$line.expires' },
            { $toDate: { $toLong: { $divide: ['$last', 1_000] } } },
            '$words.until',
            '$attempts.counts',
          ],
        },
      },
      '$was',
    ],
  },
};
