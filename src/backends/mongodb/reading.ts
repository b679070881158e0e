import { type Attempt, admitted, type Claim, leastOf, type QueueEntry } from '../../core/index.ts';
import type { LineDocument, MongoCollection } from './driver.ts';
import { newer } from './errors.ts';
import { FORM, idOf, keyOf } from './pipeline.ts';

/** All claims on keys that begin with `prefix`, or on that key. */
export async function* entriesOf(
  collection: MongoCollection,
  prefix: string,
  exact: boolean,
): AsyncIterable<QueueEntry> {
  const from = idOf(prefix);
  const lines = collection.aggregate([
    { $match: { _id: exact ? { $eq: from } : { $gte: from } } },
    { $project: { words: 0, attempts: 0 } },
    { $sort: { _id: 1 } },
    { $set: { now: '$$NOW' } },
  ]);
  for await (const found of lines) {
    const { _id, line, now, v } = found as LineDocument;
    if (!_id.startsWith(from)) break;
    const key = keyOf(_id);
    if (v !== FORM) throw newer(key);
    const alive = line.filter(({ expires }) => expires > now);
    const holders = admitted(alive);
    for (const [position, { token, units, capacity, label, joined, expires }] of alive.entries()) {
      const [since, remaining] = [now.getTime() - joined.getTime(), expires.getTime() - now.getTime()];
      const held = position < holders;
      yield { key, held, position, token: BigInt(token.toString()), units, capacity, label, since, remaining };
    }
  }
}

/** What a queue means for a claim that must not join it after `notAfter`. */
export function answerTo({ id, ttl }: Claim, { line, now }: LineDocument, notAfter?: Date): Attempt {
  const index = line.findIndex((place) => place.id === id);
  if (index < 0 && notAfter && now > notAfter) return { granted: false, late: true };
  if (index >= 0 && admitted(line) > index) {
    return { granted: true, token: BigInt(line[index]!.token.toString()), validFor: ttl };
  }
  const ahead = index < 0 ? line : line.slice(0, index);
  const retryAfter = leastOf(ahead.map(({ expires }) => expires.getTime())) - now.getTime();
  return { granted: false, ahead: ahead.length, retryAfter };
}
