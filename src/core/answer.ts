import type { Attempt } from './backend.ts';

/** What the engine answered to a request sent at `sent`. */
export interface Answer {
  readonly sent: number;
  readonly attempt: Attempt;
}

/** A claim on its way with the release of another: when that was sent, and what will be answered, if it is taken along. */
export interface PiggybackedAttempt {
  readonly sent: number;
  readonly attempt: Promise<Attempt | undefined>;
}

/** Undefined when it has to be asked again: not taken along, or too late. Rejects when it was not answered. */
export async function answerTo({ sent, attempt }: PiggybackedAttempt): Promise<Answer | undefined> {
  const answer = await attempt;
  return answer && (answer.granted || !answer.late) ? { sent, attempt: answer } : undefined;
}
