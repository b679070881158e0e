import type {
  Attempt,
  Claim,
  Handle,
  NewValue,
  Release,
  ValueCondition,
  ValueRecord,
  Values,
} from '../../core/index.ts';
import {
  answerIn,
  countedIn,
  type KeyRecord,
  overAt,
  readRecord,
  rememberedIn,
  writeRecord,
} from '../shared/record.ts';
import type { Queues } from './queues.ts';
import * as sql from './sql.generated.ts';
import type { NamedValues } from './statements.ts';
import type { QueueSteps } from './steps.ts';
import { MICRO, mark, type QueueAttempt } from './stored-queue.ts';

/** How often a record is looked at again because others changed it. After that the outcome of the attempt is unknown. */
const MAX_RETRIES = 20;

/** What memos keep of a key. */
interface Look {
  readonly record: KeyRecord | undefined;
  /** The server's time, ms. */
  readonly now: number;
  /** Whether the claim that asks stands in the queue. */
  readonly queued: boolean;
}

/**
 * The values of memos, in the rows of their keys, and the attempts of claims that they may answer. Each look is a statement of its own,
 * so one comes after a grant, too: a hold that ended before it has stored its value by then.
 */
export class MysqlValues implements Values {
  readonly #queues: Queues;
  readonly #steps: QueueSteps;

  constructor(queues: Queues, steps: QueueSteps) {
    this.#queues = queues;
    this.#steps = steps;
  }

  async *keys(prefix: string): AsyncIterable<string> {
    const { table } = this.#queues;
    await table.ready();
    for await (const { name } of this.#queues.pages((names) => table.read(sql.valueKeys, names), prefix))
      yield this.#queues.keyOf(name);
  }

  async look(key: string): Promise<ValueRecord> {
    const { record, now } = await this.#look({ key, id: '' });
    return rememberedIn(record, now);
  }

  forget(key: string): Promise<boolean> {
    return this.#write(sql.valueForget, key, {});
  }

  async attempt(claim: Claim, accepts: ValueCondition): Promise<Attempt> {
    const look = await this.#look(claim);
    const value = answerIn(look.record, accepts, look.now);
    if (value && look.queued) await this.#steps.release(claim);
    if (value) return { granted: false, value };
    const attempt = await this.#steps.attempt(claim);
    return this.#answer(claim, accepts, attempt, attempt.granted ? undefined : look);
  }

  /** A release, after which the next claim joins, or is answered. */
  async release(handle: Handle, next: Claim, accepts: ValueCondition): Promise<Release> {
    const { freed, next: attempt } = await this.#steps.release(handle, next);
    return { freed, next: await this.#answer(next, accepts, attempt!) };
  }

  /** A release that stores a value, where the claim holds. */
  async store(handle: Handle, { text, ttl, ageless }: NewValue): Promise<Release> {
    const fresh = micro(ageless ? ttl : 0);
    const values = { mark: mark(handle.id), text: Buffer.from(text), ttl: micro(ttl), fresh };
    const stored = await this.#steps.leaveBy(handle, () => this.#write(sql.valueStore, handle.key, values));
    return stored ? { freed: true, stored } : { ...(await this.#steps.release(handle)), stored };
  }

  /** Adds to an attempt what was stored or begun before. @param known what is known since before a refusal */
  async #answer(claim: Claim, accepts: ValueCondition, attempt: QueueAttempt, known?: Look): Promise<Attempt> {
    if (!attempt.granted && attempt.late) return attempt;
    const first = attempt.granted ? undefined : attempt.first;
    for (let attempts = 0; attempts < MAX_RETRIES; attempts++) {
      const { record, now } = known ?? (await this.#look(claim));
      const value = attempt.granted ? answerIn(record, accepts, now) : undefined;
      if (value) {
        await this.#steps.release(claim);
        return { granted: false, value };
      }
      const counted = countedIn(record, claim, accepts, attempt, now, first);
      if (!counted.changed || (await this.#count(claim.key, record, counted.changed))) return counted.attempt;
    }
    throw new Error(`the record of a memo was changed each of ${MAX_RETRIES} times it was looked at`);
  }

  async #look({ key, id }: Handle): Promise<Look> {
    const { table } = this.#queues;
    await table.ready();
    const [row] = await table.read(sql.valueRead, { name: this.#queues.lockNameOf(key), mark: mark(id) });
    const text = String(row!.value);
    const record = text === '' ? undefined : readRecord(text);
    return { record, now: Number(row!.now) / MICRO, queued: Number(row!.queued) > 0 };
  }

  /** Notes that a hold has begun. @returns false where the record has changed meanwhile */
  #count(key: string, old: KeyRecord | undefined, changed: KeyRecord): Promise<boolean> {
    const values = { old: old ? headOf(old) : '', new: headOf(changed), ends: micro(overAt(changed)) };
    return this.#write(sql.valueCount, key, values);
  }

  /** @returns whether it changed the row */
  async #write(text: string, key: string, values: NamedValues): Promise<boolean> {
    const { table } = this.#queues;
    await table.ready();
    return (await table.write(text, { ...values, name: this.#queues.lockNameOf(key) })).affectedRows > 0;
  }
}

const micro = (ms: number): string => `${Math.ceil(ms * MICRO)}`;

/** A record without its text, which may be long. */
const headOf = (record: KeyRecord): string => writeRecord({ ...record, text: '' });
