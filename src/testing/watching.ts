import assert from 'node:assert/strict';
import type { Clock, Grant, Wake } from '../core/index.ts';
import type { Contender } from './contender.ts';
import { limited } from './limited.ts';

/** A contender that waits like the core, but without the core's timer: without a wake-up it never asks. */
export class Watching implements AsyncDisposable {
  readonly #contender: Contender;
  readonly #patience: number;
  readonly #clock: Clock;
  readonly #heard: (Grant | undefined)[] = [];
  #listener: (() => void) | undefined;
  #watch: AsyncDisposable | undefined;

  private constructor(contender: Contender, patience: number, clock: Clock) {
    this.#clock = clock;
    this.#contender = contender;
    this.#patience = patience;
  }

  /**
   * @param patience ms after which a wake that has not come never will
   * @param sent when its last attempt was sent
   */
  static async by(contender: Contender, patience: number, clock: Clock, sent?: number): Promise<Watching> {
    const watching = new Watching(contender, patience, clock);
    const wake: Wake = (grant) => {
      watching.#heard.push(grant);
      watching.#listener?.();
    };
    const age = sent === undefined ? undefined : clock.now() - sent;
    watching.#watch = await contender.client.watch!(contender.claim, wake, age);
    return watching;
  }

  get silent(): boolean {
    return this.#heard.length === 0;
  }

  /** Waits for wake-ups and asks after each one, until an attempt is granted. */
  async isAdmitted(): Promise<void> {
    for (;;) {
      const told = await this.#wake();
      const answer = await this.#contender.attempt();
      if (told && !answer.granted) assert.fail(`${this.#contender} was told of a grant that an attempt does not find`);
      if (!answer.granted) continue;
      if (told) assert.equal(told.token, answer.token, 'the token told and the token found');
      return;
    }
  }

  /** Waits for any wake-up. */
  async isWoken(): Promise<void> {
    await this.#wake();
  }

  async #wake(): Promise<Grant | undefined> {
    if (this.silent) {
      const heard = new Promise<void>((resolve) => {
        this.#listener = resolve;
      });
      const message = `${this.#contender} was admitted and heard nothing of it in ${this.#patience} ms`;
      await limited(heard, this.#patience, message, this.#clock);
    }
    return this.#heard.shift();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch?.[Symbol.asyncDispose]();
  }
}
