import {
  type Attempt,
  type Inquiry,
  LockError,
  NO_MARK,
  quoted,
  type StoredValue,
  type ValueCondition,
  type ValueState,
} from '../core/index.ts';
import type { MemoPlan } from './options.ts';
import { stateOf } from './state.ts';

/** Whether two fingerprints are of different requests. */
export const differ = (a: string, b: string): boolean => a !== NO_MARK && b !== NO_MARK && a !== b;

/** @throws LockError `LOCK_MISMATCH` */
export function checkMatch(plan: Pick<MemoPlan, 'key' | 'match'>, other: string, backend: string): void {
  if (differ(plan.match, other)) throw mismatch(plan, backend);
}

export function mismatch({ key }: Pick<MemoPlan, 'key'>, backend: string): LockError {
  const why = `${quoted(key)} on ${backend} is of another request: it was asked for with another match. Use a key of its own for each request`;
  return new LockError('LOCK_MISMATCH', why, { key, backend });
}

/** One wish for the key of a memo, which its result may settle. */
export class MemoInquiry implements Inquiry {
  left: StoredValue | undefined;
  /** How often it was begun, this time included, where that is counted. */
  attempts = 0;
  /** When the attempt was sent that was answered last. */
  sent = 0;
  readonly #plan: MemoPlan;
  readonly #backend: string;
  readonly #age: (sent: number) => number;
  readonly #onAnswer: (mark: string) => void;

  /**
   * @param age of the oldest result that will do, ms, for an attempt that is sent at a given time
   * @param onAnswer gets the mark of who holds the key, for each answer of the engine
   */
  constructor(plan: MemoPlan, backend: string, age: (sent: number) => number, onAnswer: (mark: string) => void) {
    this.#plan = plan;
    this.#backend = backend;
    this.#age = age;
    this.#onAnswer = onAnswer;
  }

  answerable(sent: number): ValueCondition {
    const { match: mark, attempts, rest } = this.#plan;
    const counts = mark !== NO_MARK || attempts !== Number.POSITIVE_INFINITY ? rest : 0;
    return { age: this.#age(sent), mark, counts };
  }

  get settled(): ValueState | undefined {
    return this.left && stateOf(this.left.text);
  }

  hears(attempt: Attempt, sent: number): boolean {
    this.sent = sent;
    const mark = (!attempt.granted && attempt.mark) || NO_MARK;
    this.#onAnswer(mark);
    if (attempt.granted) {
      this.attempts = attempt.attempts ?? 0;
      return false;
    }
    this.left = attempt.value;
    checkMatch(this.#plan, mark, this.#backend);
    return attempt.value !== undefined;
  }
}
