import type { Claim, Renewal } from '../../core/backend.ts';
import { CallTimeouts } from '../../core/call-timeouts.ts';
import type { Clock } from '../../core/clock.ts';
import { isLockError } from '../../core/errors.ts';
import type { Lines } from './lines.ts';

/** Longest wait for an answer over the connection of our own; and ms after a failure in which the pool is asked instead. */
const PATIENCE = 1_000;
const AGAIN = 5_000;

/** Renewals: over a connection of our own where there is one, else over the pool, where they wait behind the application's statements. */
export class Renewals {
  readonly #pooled: Lines;
  readonly #own: Lines | undefined;
  readonly #clock: Clock;
  readonly #timeouts: CallTimeouts;
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(pooled: Lines, own: Lines | undefined, clock: Clock) {
    this.#pooled = pooled;
    this.#own = own;
    this.#clock = clock;
    this.#timeouts = new CallTimeouts(clock);
  }

  async renew(claims: readonly Claim[]): Promise<Renewal[]> {
    await this.#pooled.table.known();
    return (await this.#overOwn(claims)) ?? this.#pooled.renew(claims);
  }

  close(): void {
    this.#timeouts.rest();
    this.#own?.table.client.close();
  }

  /** Undefined when there is none, or it is away. */
  async #overOwn(claims: readonly Claim[]): Promise<Renewal[] | undefined> {
    if (!this.#own || this.#clock.now() < this.#notBefore) return undefined;
    try {
      const late = () => new Error(`no answer within ${PATIENCE} ms`);
      return await this.#timeouts.bound(this.#own.renew(claims), PATIENCE, late);
    } catch (error) {
      if (isLockError(error)) throw error;
      this.#notBefore = this.#clock.now() + AGAIN;
      return undefined;
    }
  }
}
