import { memory } from '../../../src/backends/memory.ts';
import type { Attempt, Backend, Claim, Grant, Handle, Release, Renewal } from '../../../src/core/backend.ts';
import { around } from '../../../src/testing/around.ts';

/** A question that a test answers when it likes. */
export interface Asked<Question, Answer> {
  readonly question: Question;
  answer(answer: Answer): void;
  fail(why: unknown): void;
}

function asking<Question, Answer>(all: Asked<Question, Answer>[]) {
  return (question: Question): Promise<Answer> => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    all.push({ question, answer: resolve, fail: reject });
    return promise;
  };
}

/** A node that keeps what it is asked, and answers when it is told to. */
export class ScriptedNode {
  readonly attempts: Asked<Claim, Attempt>[] = [];
  readonly releases: Asked<Handle, Release>[] = [];
  readonly renewals: Asked<readonly Claim[], Renewal[]>[] = [];
  readonly backend: Backend;

  constructor(more: Partial<Backend> = {}) {
    this.backend = around(memory(), {
      attempt: asking(this.attempts),
      release: asking(this.releases),
      renew: asking(this.renewals),
      ...more,
    });
  }
}

export const yes = (ticket: bigint, more: Partial<Grant> = {}): Grant => ({
  ...{ granted: true, ticket, validFor: 30_000 },
  ...more,
});
export const NO: Attempt = { granted: false };
