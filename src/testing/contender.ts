import assert from 'node:assert/strict';
import {
  type Attempt,
  type Backend,
  type Claim,
  type Clock,
  type Grant,
  isLockError,
  type NewValue,
  type Refusal,
  type Release,
  type Renewal,
} from '../core/index.ts';

/** After so many refusals in a row for lateness, the backend is wrong about time. */
const LATE = 3;
/** How often an engine that votes may refuse a claim because of old votes: a slow node hears last that an earlier claim is gone. */
const SPLIT = 25;
/** So many attempts fail because too few nodes answered, with this pause between, ms: as long as a node may be left out. */
const SILENT = 25;
const PAUSE = 100;

/** One claim of one client, and what a law expects of it. */
export class Contender {
  readonly client: Backend;
  readonly claim: Claim;
  readonly #clock: Clock;

  constructor(client: Backend, claim: Claim, clock: Clock) {
    this.client = client;
    this.claim = claim;
    this.#clock = clock;
  }

  /**
   * Asks again, as the core does: after a refusal for lateness, for the client now knows the engine's time, and after too few
   * answers of engines that vote.
   */
  async attempt(claim: Claim = this.claim): Promise<Attempt> {
    for (let [late, silent] = [0, 0]; ; ) {
      try {
        const answer = await this.client.attempt(claim);
        if (answer.granted || !answer.late || ++late === LATE) return answer;
      } catch (error) {
        if (!this.#votes || isLockError(error) || ++silent === SILENT) throw error;
        await this.#pass(PAUSE);
      }
    }
  }

  async gets(claim?: Claim): Promise<Grant> {
    let answer = await this.attempt(claim);
    for (let refused = 1; this.#votes && !answer.granted && refused < SPLIT; refused++) {
      await this.#pass(answer.retryAfter ?? 1);
      answer = await this.attempt(claim);
    }
    if (!answer.granted) assert.fail(`${this} must be granted, but was refused${details(answer)}`);
    assert.ok(answer.validFor > 0, `${this} was granted for ${answer.validFor} ms`);
    return answer;
  }

  get #votes(): boolean {
    const { fair, wakes } = this.client.traits;
    return !fair && wakes === 'never';
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }

  async waits(claim?: Claim): Promise<Refusal> {
    const answer = await this.attempt(claim);
    if (answer.granted) assert.fail(`${this} must be refused, but was granted with token ${answer.token}`);
    return answer;
  }

  async leaves(): Promise<void> {
    const { freed } = await this.release();
    assert.equal(freed, true, `${this} must have had something to release`);
  }

  async hasNothing(): Promise<void> {
    const { freed } = await this.release();
    assert.equal(freed, false, `${this} must have nothing left to release`);
  }

  release(next?: Claim): Promise<Release> {
    return this.client.release({ key: this.claim.key, id: this.claim.id }, next);
  }

  /** Releases with words. */
  leavesWords(leave: NewValue): Promise<Release> {
    return this.client.release({ key: this.claim.key, id: this.claim.id }, undefined, leave);
  }

  async renew(ttl: number = this.claim.ttl): Promise<Renewal> {
    const [answer] = await this.client.renew([{ ...this.claim, ttl }]);
    return answer ?? assert.fail(`renew gave no answer for ${this}`);
  }

  async renews(ttl?: number): Promise<{ validFor: number }> {
    const answer = await this.renew(ttl);
    if (typeof answer === 'string') assert.fail(`${this} must be renewed, but heard ${answer}`);
    assert.ok(answer.validFor > 0, `${this} was renewed for ${answer.validFor} ms`);
    return answer;
  }

  async isGone(): Promise<void> {
    assert.equal(await this.renew(), 'gone', `${this} is gone, and a renewal must say so and not revive it`);
  }

  toString(): string {
    const { label, units, capacity, key } = this.claim;
    return `${label} (${units} of ${capacity} seats of ${JSON.stringify(key)} at ${this.client.name})`;
  }
}

const details = ({ ahead, retryAfter, late }: Refusal): string =>
  `${late ? ' as late' : ''}${ahead === undefined ? '' : `, ${ahead} ahead`}${retryAfter === undefined ? '' : `, retry after ${retryAfter} ms`}`;
