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
} from '../../src/core/index.ts';
import { limited } from './limited.ts';

/** A backend that refuses so many attempts as late is wrong about the time. */
const MAX_LATE_REFUSALS = 3;
/** How often an engine that votes may refuse a claim because a slow node still votes for an earlier claim that is gone. */
const MAX_SPLIT_VOTES = 25;
/** How many attempts may fail because too few nodes answered: with the pauses, as long as a node may be left out. */
const MAX_SILENT = 25;
const PAUSE_MS = 100;

/** One claim of one client, and what a law expects of it. */
export class Participant {
  readonly client: Backend;
  readonly claim: Claim;
  readonly #clock: Clock;
  #token: bigint | undefined;

  constructor(client: Backend, claim: Claim, clock: Clock) {
    this.client = client;
    this.claim = claim;
    this.#clock = clock;
  }

  /** The token of the last grant. */
  get token(): bigint {
    return this.#token ?? assert.fail(`${this} was not granted yet`);
  }

  /**
   * As the core does, attempts again after a refusal as late (the client then knows the engine's time), and if too few nodes of
   * an engine that votes have answered.
   */
  async attempt(claim: Claim = this.claim): Promise<Attempt> {
    for (let [late, silent] = [0, 0]; ; ) {
      try {
        const answer = await this.client.attempt(claim);
        if (answer.granted) this.#token = answer.token;
        if (answer.granted || !answer.late || ++late === MAX_LATE_REFUSALS) return answer;
      } catch (error) {
        if (!this.#votes || isLockError(error) || ++silent === MAX_SILENT) throw error;
        await this.#pass(PAUSE_MS);
      }
    }
  }

  async gets(claim?: Claim): Promise<Grant> {
    let answer = await this.attempt(claim);
    for (let refused = 1; this.#votes && !answer.granted && refused < MAX_SPLIT_VOTES; refused++) {
      await this.#pass(answer.retryAfter ?? 1);
      answer = await this.attempt(claim);
    }
    if (!answer.granted) assert.fail(`${this} must be granted, but was refused${details(answer)}`);
    assert.ok(answer.validFor > 0, `${this} was granted for ${answer.validFor} ms`);
    return answer;
  }

  async waits(): Promise<Refusal> {
    const answer = await this.attempt();
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

  store(value: NewValue): Promise<boolean> {
    return this.client.store!({ key: this.claim.key, id: this.claim.id }, value);
  }

  async renew(ttl: number = this.claim.ttl): Promise<Renewal> {
    const [answer] = await this.client.renew([{ ...this.claim, ttl }]);
    return answer ?? assert.fail(`renew gave no answer for ${this}`);
  }

  async renews(ttl?: number): Promise<{ validFor: number }> {
    const answer = await this.renew(ttl);
    if (typeof answer === 'string') assert.fail(`${this} must be renewed, but the answer was ${answer}`);
    assert.ok(answer.validFor > 0, `${this} was renewed for ${answer.validFor} ms`);
    return answer;
  }

  async isGone(): Promise<void> {
    assert.equal(await this.renew(), 'gone', `${this} is gone, and a renewal must say so and not revive it`);
  }

  toString(): string {
    const { label, units, capacity, key } = this.claim;
    return `${label} (${units} of ${capacity} units of ${JSON.stringify(key)} at ${this.client.name})`;
  }

  get #votes(): boolean {
    const { fair, wakes } = this.client.traits;
    return !fair && wakes === 'never';
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }
}

const details = ({ ahead, retryAfter, late }: Refusal): string =>
  `${late ? ' as late' : ''}${ahead === undefined ? '' : `, ${ahead} ahead`}${retryAfter === undefined ? '' : `, retry after ${retryAfter} ms`}`;

/** Waits as the core does, but without the core's timer: it attempts only after a wake-up. */
export class Watching implements AsyncDisposable {
  readonly #participant: Participant;
  readonly #patience: number;
  readonly #clock: Clock;
  readonly #notifications: (Grant | undefined)[] = [];
  #next = Promise.withResolvers<void>();
  #watch: AsyncDisposable | undefined;

  private constructor(participant: Participant, patience: number, clock: Clock) {
    this.#participant = participant;
    this.#patience = patience;
    this.#clock = clock;
  }

  /**
   * @param patience ms after which a missing wake-up is a failure
   * @param sent when the last attempt was sent, ms of `clock`
   */
  static async by(participant: Participant, patience: number, clock: Clock, sent?: number): Promise<Watching> {
    const watching = new Watching(participant, patience, clock);
    const wake = (grant?: Grant): void => {
      watching.#notifications.push(grant);
      watching.#next.resolve();
    };
    const age = sent === undefined ? undefined : clock.now() - sent;
    const watch = participant.client.watch!(participant.claim, wake, age);
    watching.#watch = await watch;
    // As the core does: an engine that first has to open a channel may have sent the grant of that attempt before.
    if (sent !== undefined && 'then' in watch) wake();
    return watching;
  }

  get silent(): boolean {
    return this.#notifications.length === 0;
  }

  /** Attempts after each wake-up, until an attempt is granted. */
  async isAdmitted(): Promise<void> {
    for (;;) {
      const notification = await this.isWoken();
      const answer = await this.#participant.attempt();
      if (notification && !answer.granted)
        assert.fail(`${this.#participant} was notified of a grant that an attempt does not find`);
      if (!answer.granted) continue;
      if (notification)
        assert.equal(notification.token, answer.token, 'the token of the notification and the token found');
      return;
    }
  }

  /** Waits for the next wake-up. @returns the grant in it, if it has one */
  async isWoken(): Promise<Grant | undefined> {
    if (this.silent) {
      this.#next = Promise.withResolvers();
      const message = `${this.#participant} was admitted and not notified in ${this.#patience} ms`;
      await limited(this.#next.promise, this.#patience, message, this.#clock);
    }
    return this.#notifications.shift();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const watch = this.#watch;
    this.#watch = undefined;
    await watch?.[Symbol.asyncDispose]();
  }
}
