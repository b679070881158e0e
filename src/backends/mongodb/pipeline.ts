/**
 * Pure functions that build the change of one key's document: an aggregation pipeline, which the server runs in one step, by its own clock.
 * The time is `$$NOW`, or the time of the last change if that is later. So the time of a key never goes back, even if a router puts in its own time,
 * a delayed message brings an old time, or the clocks of members differ. The last stage writes the queue and
 *
 *   v     the form of the document; a document in a form that this version does not know stays as it was
 *   last  the highest token given or reserved
 *   freed whether the release or eviction found its claim
 *   now   the time, as above
 *   idle  the time after which the document is not needed, for the TTL index
 *   value, attempts  the value of a memo, and the number of holds that stored none, each until it expires
 */
import { type Claim, type NewValue, placeTtlOf, type ValueCondition } from '../../core/index.ts';
import { FORM } from './documents.ts';

export type Stage = Readonly<Record<string, unknown>>;

/** The claim joins the queue, unless it is after `notAfter` by the server's clock, or gives a sign of life. If a value answers it, it leaves. */
export const attempting = (claim: Claim, notAfter?: Date): Stage[] => [
  ...OPEN,
  ...(claim.accepts ? [answers(claim.accepts, notAfter), { $set: { queue: unlessAnswered(claim) } }] : []),
  join(claim, notAfter),
  refresh(claim, latestExpiry),
  ...(claim.accepts?.counts ? [holderOf(claim.id), count(claim, claim.accepts)] : []),
  CLOSE,
];

/** After `notAfter` a renewal changes nothing. */
export const renewing = (claim: Claim, notAfter?: Date): Stage[] => [
  ...OPEN,
  refresh(claim, newExpiry, notAfter),
  CLOSE,
];

/** A release by id, or an eviction by token. */
export const leaving = (which: { readonly id: string } | { readonly token: bigint }): Stage[] => {
  const [[field, value]] = Object.entries(which) as [[string, string | bigint]];
  return [...OPEN, { $set: { freed: { $in: [value, `$queue.${field}`] }, queue: others(field, value) } }, CLOSE];
};

/** A release that stores a value, if the claim holds. */
export const storing = (id: string, { text, ttl, ageless }: NewValue): Stage[] => {
  const until = { $add: ['$now', Math.ceil(ttl)] };
  const value = { text: { $literal: text }, token: '$holder', at: ageless ? until : '$now', until };
  return [
    ...OPEN,
    holderOf(id),
    {
      $set: {
        freed: HOLDS,
        value: { $cond: [HOLDS, value, '$value'] },
        attempts: { $cond: [HOLDS, null, '$attempts'] },
        queue: others('id', id),
      },
    },
    CLOSE,
  ];
};

/** `freed`: whether there was a value, or a hold that stored none. */
export const forgetting = (): Stage[] => [
  ...OPEN,
  { $set: { freed: { $gt: [{ $max: ['$value.until', '$attempts.counts'] }, '$now'] }, value: null, attempts: null } },
  CLOSE,
];

const OPEN: readonly Stage[] = [
  { $set: { was: '$$ROOT', now: { $max: ['$$NOW', '$now'] } } },
  { $set: { queue: { $filter: { input: { $ifNull: ['$queue', []] }, cond: { $gt: ['$$this.expires', '$now'] } } } } },
];

const others = (field: string, value: unknown): object => ({
  $filter: { input: '$queue', cond: { $ne: [`$$this.${field}`, value] } },
});

const answers = ({ age }: ValueCondition, notAfter: Date | undefined): Stage => {
  const isYoung = { $lte: [{ $max: [0, { $subtract: ['$now', '$value.at'] }] }, age] };
  const young = age === Number.POSITIVE_INFINITY ? [] : [isYoung];
  return { $set: { answers: { $and: [{ $gt: ['$value.until', '$now'] }, ...young, ...inTime(notAfter)] } } };
};

const unlessAnswered = ({ id }: Claim): object => ({ $cond: ['$answers', others('id', id), '$queue'] });

function join(claim: Claim, notAfter: Date | undefined): Stage {
  const { id, units, capacity, tokenCount, queue, minToken, label, accepts } = claim;
  // No token is below the time in µs. So tokens also grow after a document was removed or lost.
  const time = { $multiply: [{ $toLong: '$now' }, 1_000] };
  const token = { $max: [{ $add: ['$last', 1] }, time, ...(minToken === undefined ? [] : [minToken])] };
  const joins = {
    $and: [
      { $not: [{ $in: [id, '$queue.id'] }] },
      ...(accepts ? [{ $not: ['$answers'] }] : []),
      ...inTime(notAfter),
      ...(queue
        ? []
        : [{ $lte: [{ $add: [{ $sum: '$queue.units' }, units] }, { $min: [{ $min: '$queue.capacity' }, capacity] }] }]),
    ],
  };
  const newcomer = { id, token, units, capacity, label: { $literal: label }, joined: '$now', expires: '$now' };
  return {
    $set: {
      queue: { $cond: [joins, { $concatArrays: ['$queue', [newcomer]] }, '$queue'] },
      last: { $cond: [joins, { $add: [token, tokenCount - 1] }, '$last'] },
    },
  };
}

const inTime = (notAfter: Date | undefined): object[] => (notAfter ? [{ $lte: ['$now', notAfter] }] : []);

/** A renewal sets the expiry. An attempt may be an old message, so it never makes a claim expire sooner. */
const newExpiry = (expires: object): object => expires;
const latestExpiry = (expires: object): object => ({ $max: ['$$this.expires', expires] });

/** A sign of life: the claim expires after its ttl if it is admitted, after a shorter time while it waits. */
function refresh(claim: Claim, as: typeof latestExpiry, notAfter?: Date): Stage {
  const life = { $cond: [ADMITTED, claim.ttl, placeTtlOf(claim)] };
  const alive = { $mergeObjects: ['$$this', { expires: as({ $add: ['$now', life] }) }] };
  const mine = { $and: [{ $eq: ['$$this.id', claim.id] }, ...inTime(notAfter)] };
  return { $set: { queue: { $map: { input: '$queue', in: { $cond: [mine, alive, '$$this'] } } } } };
}

/** The rule for the claim `$$this`: its units and those of all claims ahead of it together fit the smallest of their capacities. */
const ADMITTED = {
  $let: {
    vars: { upTo: { $filter: { input: '$queue', as: 'other', cond: { $lte: ['$$other.token', '$$this.token'] } } } },
    in: { $lte: [{ $sum: '$$upTo.units' }, { $min: '$$upTo.capacity' }] },
  },
};

/** Sets `holder` to the token of the claim if it holds, else to null. */
function holderOf(id: string): Stage {
  const mine = { $filter: { input: '$queue', cond: { $and: [{ $eq: ['$$this.id', id] }, ADMITTED] } } };
  return { $set: { holder: { $let: { vars: { mine }, in: { $max: '$$mine.token' } } } } };
}

const HOLDS = { $ne: ['$holder', null] };

/** Counts a hold of the claim, if it is not the hold that was counted last. */
function count({ ttl }: Claim, { mark, counts }: ValueCondition): Stage {
  const before = { $cond: [{ $gt: ['$attempts.counts', '$now'] }, '$attempts.count', 0] };
  const begun = {
    count: { $add: [before, 1] },
    begun: '$holder',
    mark: { $literal: mark },
    counts: { $add: ['$now', Math.ceil(ttl + counts)] },
  };
  const isNew = { $and: [HOLDS, { $ne: [{ $ifNull: ['$attempts.begun', 0] }, '$holder'] }] };
  return { $set: { attempts: { $cond: [isNew, begun, '$attempts'] } } };
}

const TOKENS_PASSED = { $toDate: { $toLong: { $divide: ['$last', 1_000] } } };

const CLOSE: Stage = {
  $replaceWith: {
    $cond: [
      { $eq: [{ $ifNull: ['$was.v', FORM] }, FORM] },
      {
        _id: '$_id',
        v: FORM,
        queue: '$queue',
        last: '$last',
        freed: '$freed',
        now: '$now',
        value: { $cond: [{ $gt: ['$value.until', '$now'] }, '$value', '$$REMOVE'] },
        attempts: { $cond: [{ $gt: ['$attempts.counts', '$now'] }, '$attempts', '$$REMOVE'] },
        // The tokens of the key's next document begin with the time. So this document stays until the time has passed its last token.
        idle: { $max: ['$now', { $max: '$queue.expires' }, TOKENS_PASSED, '$value.until', '$attempts.counts'] },
      },
      '$was',
    ],
  },
};
