import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';
import type { Locks } from '../locks.ts';

/** A holder of a key, for the span of a waiter. */
export interface Holder {
  readonly label: string;
  /** The context of its span, if it is traced. */
  readonly span?: SpanContext | undefined;
}

/** How many holders of one key are shown. */
const MAX_HOLDERS = 8;
/** How many questions to the engine run at a time. Further questions get no answer. */
const MAX_QUESTIONS = 2;
/** For how long an answer also serves later waiters for the key, ms. */
const FRESH_MS = 100;

interface Question {
  readonly answer: Promise<readonly Holder[]>;
  /** When the answer is too old; Infinity before there is an answer. */
  staleAt: number;
}

/** Asks the engine for the holders of a key. The answer is only for a trace, so it asks rarely, and may give none. */
export class Holders {
  readonly #locks: Locks;
  /** Questions by key, so that many waiters for one key ask once. */
  readonly #questions = new Map<string, Question>();

  constructor(locks: Locks) {
    this.#locks = locks;
  }

  /** Gives the holders; none if the engine was not asked or failed. */
  of(key: string): Promise<readonly Holder[]> {
    const now = performance.now();
    for (const [of, { staleAt }] of this.#questions) if (staleAt <= now) this.#questions.delete(of);
    const asked = this.#questions.get(key);
    if (asked) return asked.answer;
    const open = [...this.#questions.values()].filter(({ staleAt }) => staleAt === Number.POSITIVE_INFINITY);
    if (open.length >= MAX_QUESTIONS) return Promise.resolve([]);
    const question: Question = { answer: this.#ask(key).catch(() => []), staleAt: Number.POSITIVE_INFINITY };
    this.#questions.set(key, question);
    void question.answer.then(() => {
      question.staleAt = performance.now() + FRESH_MS;
    });
    return question.answer;
  }

  async #ask(key: string): Promise<readonly Holder[]> {
    const holders: Holder[] = [];
    for await (const { held, label, origin } of this.#locks.inspect(key, { exact: true })) {
      if (!held) break; // the holders come first
      holders.push({ label, span: origin?.traceparent === undefined ? undefined : spanContextOf(origin.traceparent) });
      if (holders.length === MAX_HOLDERS) break;
    }
    return holders;
  }
}

/** A traceparent: https://www.w3.org/TR/trace-context/#traceparent-header */
const FORM = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Writes a span context in 55 characters. */
export const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

/** Undefined for a text that names no span. */
function spanContextOf(traceparent: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = FORM.exec(traceparent) ?? [];
  if (!traceId || !spanId || !flags) return undefined;
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(context) ? context : undefined;
}
