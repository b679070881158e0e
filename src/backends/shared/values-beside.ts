import { type Attempt, type Claim, NO_MARK, type ValueCondition } from '../../core/index.ts';
import { answerIn, countedIn, type KeyRecord } from './record.ts';

/** What an engine found beside a queue after an attempt, and what it can do there. */
interface Beside {
  readonly record: KeyRecord | undefined;
  /** The time of the engine that the record is as of, ms. The age of its value counts to when the attempt was sent. */
  readonly now: number;
  withdraw(): Promise<unknown>;
  /** Whether the hold that was counted last stands first in the queue. */
  stands(): Promise<boolean>;
  count(changed: KeyRecord): Promise<unknown>;
}

/** Looks after the attempt: only a holder stores a value, so a claim that was granted has seen the last of them. */
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
    // If this fails, the claim ends with its lease or session. The id is never attempted again.
    await beside.withdraw().catch(() => undefined);
    return { granted: false, value };
  }
  const isMarked = !came.granted && record !== undefined && record.mark !== NO_MARK;
  const first = isMarked && (await beside.stands()) ? record.begun : undefined;
  const { attempt: answer, changed } = countedIn(record, claim, accepts, came, now, first);
  if (changed) await beside.count(changed);
  return answer;
}
