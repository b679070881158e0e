import type { SpanContext } from '@opentelemetry/api';
import type { Locks } from '../locks.ts';
import { spanContextOf } from './traceparent.ts';

/** Who holds a key, as a span of the one who waits tells it. */
export interface Holder {
  readonly label: string;
  /** Of its span, if it is traced. */
  readonly span?: SpanContext | undefined;
}

/** Holders of one key that are told. */
const MOST_HOLDERS = 8;
/** Questions to the engine at a time; who waits meanwhile for another key goes without an answer. */
const MOST_QUESTIONS = 2;
/** ms for which an answer is given to others who wait for the same key. */
const FRESH = 100;

interface Question {
  readonly answer: Promise<readonly Holder[]>;
  /** Until then; Infinity while there is none. */
  staleAt: number;
}

/** Asks the engine who holds a key: for a trace, so it is asked seldom, and no answer is no trouble. */
export class Holders {
  readonly #locks: Locks;
  /** By key, so that many who wait for one ask once. */
  readonly #questions = new Map<string, Question>();

  constructor(locks: Locks) {
    this.#locks = locks;
  }

  /** Never rejects. */
  of(key: string): Promise<readonly Holder[]> {
    const now = performance.now();
    for (const [of, { staleAt }] of this.#questions) if (staleAt <= now) this.#questions.delete(of);
    const asked = this.#questions.get(key);
    if (asked) return asked.answer;
    const open = [...this.#questions.values()].filter(({ staleAt }) => staleAt === Number.POSITIVE_INFINITY);
    if (open.length >= MOST_QUESTIONS) return Promise.resolve([]);
    const answer = this.#ask(key).catch(() => []);
    const question: Question = { answer, staleAt: Number.POSITIVE_INFINITY };
    this.#questions.set(key, question);
    void answer.then(() => {
      question.staleAt = performance.now() + FRESH;
    });
    return answer;
  }

  async #ask(key: string): Promise<readonly Holder[]> {
    const holders: Holder[] = [];
    for await (const { held, label, origin } of this.#locks.inspect(key, { exact: true })) {
      if (!held) break; // those who hold come first
      holders.push({ label, span: origin?.traceparent === undefined ? undefined : spanContextOf(origin.traceparent) });
      if (holders.length === MOST_HOLDERS) break;
    }
    return holders;
  }
}
