import {
  type Attempt,
  type Claim,
  type Handle,
  type NewValue,
  NO_MARK,
  type Release,
  type ValueCondition,
  type ValueRecord,
  type Values,
} from '../../core/index.ts';
import { answerIn, type KeyRecord, markBehind, rememberedIn } from '../shared/record.ts';
import type { LineDocument, MongoCollection } from './driver.ts';
import { newer } from './errors.ts';
import type { Lines } from './lines.ts';
import { FORM, idOf, keyOf } from './pipeline.ts';
import { answerTo } from './reading.ts';
import { asking, forgetting, leavingWords } from './words-pipeline.ts';

/** Words in the document of their key. */
export class MongoWords implements Values {
  readonly #collection: MongoCollection;
  readonly #lines: Lines;

  constructor(collection: MongoCollection, lines: Lines) {
    this.#collection = collection;
    this.#lines = lines;
  }

  /** Reads what a majority has: what only the primary has may be undone by a fail-over. */
  async look(key: string): Promise<ValueRecord> {
    const found = this.#collection.aggregate(
      [{ $match: { _id: { $eq: idOf(key) } } }, { $set: { now: { $max: ['$$NOW', '$now'] } } }],
      { readConcern: { level: 'majority' } },
    );
    for await (const document of found as AsyncIterable<LineDocument>) {
      if (document.v !== FORM) throw newer(key);
      return rememberedIn(recordOf(document), document.now.getTime());
    }
    return rememberedIn(undefined, 0);
  }

  async forget(key: string): Promise<boolean> {
    return (await this.#lines.change(key, forgetting()))?.freed ?? false;
  }

  async *keys(prefix: string): AsyncIterable<string> {
    const from = idOf(prefix);
    const found = this.#collection.aggregate([
      { $match: { _id: { $gte: from } } },
      { $project: { words: { until: 1 }, attempts: { counts: 1 } } },
      { $sort: { _id: 1 } },
      { $set: { now: '$$NOW' } },
    ]);
    for await (const { _id, words, attempts, now } of found as AsyncIterable<LineDocument>) {
      if (!_id.startsWith(from)) break;
      if ((words && words.until > now) || (attempts && attempts.counts > now)) yield keyOf(_id);
    }
  }

  /** The attempt of a claim that words may answer. */
  async ask(claim: Claim, answered: ValueCondition): Promise<Attempt> {
    const { key, within } = claim;
    const notAfter = this.#lines.notAfter(within);
    const document = (await this.#lines.change(key, asking(claim, answered, notAfter), within, true))!;
    const attempt = answerTo(claim, document, notAfter);
    if (!attempt.granted && attempt.late) return attempt;
    const now = document.now.getTime();
    const record = recordOf(document);
    const value = notAfter && document.now > notAfter ? undefined : answerIn(record, answered, now);
    if (value) return { granted: false, value };
    if (!attempt.granted) return { ...attempt, mark: markBehind(record, firstOf(document), now) };
    return answered.counts > 0 ? { ...attempt, attempts: record.attempts } : attempt;
  }

  async leave(handle: Handle, leave: NewValue): Promise<Release> {
    const freed = (await this.#lines.change(handle.key, leavingWords(handle, leave)))?.freed ?? false;
    return { freed, stored: freed };
  }
}

const firstOf = ({ line: [first] }: LineDocument): bigint | undefined => first && BigInt(first.token.toString());

/** Tells of each document whether it has words that none before it had. */
export function newsOfWords(): (document: LineDocument) => boolean {
  let last: string | undefined;
  return ({ words }) => {
    const before = last;
    last = words?.token.toString();
    return last !== undefined && last !== before;
  };
}

function recordOf({ words, attempts }: LineDocument): KeyRecord {
  return {
    attempts: attempts?.count ?? 0,
    begun: BigInt(attempts?.begun.toString() ?? 0),
    mark: attempts?.mark ?? NO_MARK,
    counts: attempts?.counts.getTime() ?? 0,
    token: BigInt(words?.token.toString() ?? 0),
    at: words?.at.getTime() ?? 0,
    until: words?.until.getTime() ?? 0,
    text: words?.text ?? '',
  };
}
