import type { Claim, Handle, NewValue, ValueCondition } from '../../core/index.ts';
import { ADMITTED, CLOSE, inTime, join, latestExpiry, OPEN, refresh, type Stage } from './pipeline.ts';

/** An attempt of a claim that words may answer: then it leaves its place, or its hold. Else it is as any attempt. */
export const asking = (claim: Claim, answered: ValueCondition, notAfter?: Date): Stage[] => [
  ...OPEN,
  { $set: { answers: { $and: [...answersAt(answered), ...inTime(notAfter)] } } },
  { $set: { line: { $cond: ['$answers', others(claim), '$line'] } } },
  join(claim, notAfter, [{ $not: ['$answers'] }]),
  refresh(claim, latestExpiry),
  ...(answered.counts > 0 ? [holderOf(claim), count(claim, answered)] : []),
  CLOSE,
];

/** A departure that leaves words, if the claim holds. */
export const leavingWords = (handle: Handle, { text, ttl, ageless }: NewValue): Stage[] => {
  const until = { $add: ['$now', Math.ceil(ttl)] };
  const words = { text: { $literal: text }, token: '$holder', at: ageless ? until : '$now', until };
  return [
    ...OPEN,
    holderOf(handle),
    {
      $set: {
        freed: HOLDS,
        words: { $cond: [HOLDS, words, '$words'] },
        attempts: { $cond: [HOLDS, null, '$attempts'] },
        line: others(handle),
      },
    },
    CLOSE,
  ];
};

/** `freed` tells whether there was anything. */
export const forgetting = (): Stage[] => [
  ...OPEN,
  { $set: { freed: { $gt: [{ $max: ['$words.until', '$attempts.counts'] }, '$now'] }, words: null, attempts: null } },
  CLOSE,
];

const answersAt = ({ age }: ValueCondition): object[] => [
  { $gt: ['$words.until', '$now'] },
  ...(age === Number.POSITIVE_INFINITY ? [] : [{ $lte: [{ $max: [0, { $subtract: ['$now', '$words.at'] }] }, age] }]),
];

const others = ({ id }: Handle): object => ({ $filter: { input: '$line', cond: { $ne: ['$$this.id', id] } } });

/** Sets `holder` to the token of the claim if it holds, else to null. */
function holderOf({ id }: Handle): Stage {
  const mine = { $filter: { input: '$line', cond: { $and: [{ $eq: ['$$this.id', id] }, ADMITTED] } } };
  return { $set: { holder: { $let: { vars: { mine }, in: { $max: '$$mine.token' } } } } };
}

const HOLDS = { $ne: ['$holder', null] };

/** Counts a hold once. */
function count({ ttl }: Claim, { mark, counts }: ValueCondition): Stage {
  const before = { $cond: [{ $gt: ['$attempts.counts', '$now'] }, '$attempts.count', 0] };
  const begun = {
    count: { $add: [before, 1] },
    begun: '$holder',
    mark: { $literal: mark },
    counts: { $add: ['$now', Math.ceil(ttl + counts)] },
  };
  return {
    $set: {
      attempts: {
        $cond: [{ $and: [HOLDS, { $ne: [{ $ifNull: ['$attempts.begun', 0] }, '$holder'] }] }, begun, '$attempts'],
      },
    },
  };
}
