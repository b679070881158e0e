import { type Attempt, type Claim, NO_MARK, type ValueCondition } from '../../core/index.ts';
import { answerIn, countedIn, type KeyRecord } from './record.ts';

/** The record of a key, as it was read after an attempt, and the calls that may follow. The record is stored beside the queue of the key. */
interface Beside {
  readonly record: KeyRecord | undefined;
  /** The present, by the clock of the times in the record, ms. `now - record.at` is the age that the value had when the attempt was sent. */
  readonly now: number;
  withdraw(): Promise<unknown>;
  /** Whether the hold that the record counted last is at the head of the queue. */
  stands(): Promise<boolean>;
  count(changed: KeyRecord): Promise<unknown>;
}

/** Reads the record after the attempt. Only a holder stores a value, so after a grant no other claim can store one before the read. */
export async function askBeside(
  claim: Claim,
  accepts: ValueCondition,
  attempt: () => Promise<Attempt>,
  look: () => Promise<Beside>,
): Promise<Attempt> {
  const came = await attempt();
  if (!came.granted && came.late) return came;
  const beside = await look();
  const { record, now } = beside;
  const value = answerIn(record, accepts, now);
  if (value) {
    // If the withdrawal fails, the claim ends with its lease or session. Its id is never attempted again.
    await beside.withdraw().catch(() => undefined);
    return { granted: false, value };
  }
  const isMarked = !came.granted && record !== undefined && record.mark !== NO_MARK;
  const first = isMarked && (await beside.stands()) ? record.begun : undefined;
  const { attempt: answer, changed } = countedIn(record, claim, accepts, came, now, first);
  if (changed) await beside.count(changed);
  return answer;
}
