import { around } from '../../products/testing/around.ts';
import type { Attempt, Backend, Claim, Grant, Handle } from '../../src/core/contract/backend.ts';
import type { Engine } from './engine.ts';

/** ms after which the engine notices that a process is gone: longer than any request waits to be done. */
const SESSION = 6_000;
const KEPT = 1e9;

/** What one process has on an engine that keeps every claim until it is released, or until the session of its process ends. */
export class Session {
  readonly backend: Backend;
  readonly #engine: Engine;
  readonly #claims = new Map<string, Handle>();

  /** @param client of one process, on an engine that lets claims expire */
  constructor(engine: Engine, client: Backend) {
    this.#engine = engine;
    const { watch } = client;
    this.backend = around(client, {
      traits: { ...client.traits, expires: false, lifetime: 'session', sessionGrace: SESSION },
      attempt: async (claim) => word(claim, await client.attempt(this.#kept(claim))),
      renew: async (claims) => {
        const answers = await client.renew(claims.map(this.#kept));
        return answers.map((answer, i) => (typeof answer === 'object' ? { validFor: claims[i]!.ttl } : answer));
      },
      release: async (handle, next) => {
        const answer = await client.release(handle, next && this.#kept(next));
        return next && answer.next ? { ...answer, next: word(next, answer.next) } : answer;
      },
      watch:
        watch && ((claim, wake, age) => watch(claim, (grant) => wake(grant && (word(claim, grant) as Grant)), age)),
      close: async () => {
        await client.close();
        this.#end(1);
        this.end(); // what was on its way
      },
    });
  }

  /** The process is gone. */
  end(): void {
    this.#end(SESSION);
  }

  #end(ms: number): void {
    this.#engine.clock.after(ms, () => {
      for (const handle of this.#claims.values()) void this.#engine.release(handle);
    });
  }

  readonly #kept = (claim: Claim): Claim => {
    this.#claims.set(claim.id, claim);
    return { ...claim, ttl: KEPT };
  };
}

/** The process counts on a claim for its ttl only. */
const word = ({ ttl }: Claim, answer: Attempt): Attempt => (answer.granted ? { ...answer, validFor: ttl } : answer);
