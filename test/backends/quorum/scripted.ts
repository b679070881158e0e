import { around } from '../../../products/testing/around.ts';
import { manualClock } from '../../../products/testing/index.ts';
import { memory } from '../../../src/backends/memory.ts';
import { quorum } from '../../../src/backends/quorum/index.ts';
import type { QuorumOptions } from '../../../src/backends/quorum/options.ts';
import type { Attempt, Backend, Claim, Grant, Handle, Release, Renewal } from '../../../src/core/contract/backend.ts';
import { claim } from './nodes.ts';

/** A question that a test answers when it likes. */
interface Asked<Question, Answer> {
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
class ScriptedNode {
  readonly attempts: Asked<Claim, Attempt>[] = [];
  readonly releases: Asked<Handle, Release>[] = [];
  readonly renewals: Asked<readonly Claim[], Renewal[]>[] = [];
  readonly backend: Backend;

  constructor(more: Partial<Backend>) {
    this.backend = around(memory(), {
      attempt: asking(this.attempts),
      release: asking(this.releases),
      renew: asking(this.renewals),
      ...more,
    });
  }
}

export const yes = (token: bigint, more: Partial<Grant> = {}): Grant => ({
  ...{ granted: true, token, validFor: 30_000 },
  ...more,
});
export const NO: Attempt = { granted: false };

/** What comes of a call, as far as it is known. */
export interface Outcome<T> {
  value?: T;
  error?: Error;
}

export function outcomeOf<T>(call: Promise<T>): Outcome<T> {
  const outcome: Outcome<T> = {};
  call.then(
    (value) => {
      outcome.value = value;
    },
    (error) => {
      outcome.error = error;
    },
  );
  return outcome;
}

/** A quorum of nodes that answer when they are told to; `more` is what they do by themselves. */
export function scripted(count = 3, options: QuorumOptions = {}, more: Partial<Backend> = {}) {
  const clock = manualClock();
  const nodes = Array.from({ length: count }, () => new ScriptedNode(more)) as [ScriptedNode, ...ScriptedNode[]];
  const lock = quorum(
    nodes.map(({ backend }) => backend),
    { clock, ...options },
  );
  const settled = (): Promise<void> => clock.advance(0);
  const attempt = async (asked: Claim): Promise<Outcome<Attempt>> => {
    const outcome = outcomeOf(lock.attempt(asked));
    await settled();
    return outcome;
  };
  /** What the nodes answer to the attempt they were asked last. */
  const say = async (...answers: (Attempt | undefined)[]): Promise<void> => {
    for (const [i, answer] of answers.entries()) if (answer) nodes[i]!.attempts.at(-1)!.answer(answer);
    await settled();
  };
  const proposals = () => nodes.map(({ attempts }) => attempts.at(-1)?.question.minToken);
  const asked = () => nodes.map(({ attempts }) => attempts.length);
  const released = () => nodes.map(({ releases }) => releases.length);
  /** A hold that every node knows under one number, by default the one they are asked for. */
  const held = async (more: Partial<Claim> = {}, token?: bigint): Promise<Claim> => {
    const mine = claim(more);
    await attempt(mine);
    await say(...proposals().map((proposal) => yes(token ?? proposal ?? 1n)));
    return mine;
  };
  return { clock, nodes, lock, settled, attempt, say, proposals, asked, released, held };
}
