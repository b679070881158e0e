import type { Attempt, Claim } from '../../core/contract/backend.ts';
import type { Clock } from '../../core/contract/clock.ts';
import { ATTEMPT } from './scripts.generated.ts';
import type { Shards } from './shards.ts';
import type { WakeUps } from './wake-ups.ts';
import { attemptArgs, readAttempt } from './wire.ts';

/** µs in one ms: the unit of the scripts. */
const MICRO = 1_000;

/** Turns claims into requests by the clock of the server that has their key. Every reply teaches that clock. */
export class Attempts {
  readonly #shards: Shards;
  readonly #wakeUps: WakeUps;
  readonly #clock: Clock;
  readonly #remember: number;

  constructor(shards: Shards, wakeUps: WakeUps, clock: Clock, remember: number) {
    this.#shards = shards;
    this.#wakeUps = wakeUps;
    this.#clock = clock;
    this.#remember = remember;
  }

  /** Tells whether the time of the server is known. Without it the claim cannot say until when it may be granted. */
  knowsTime({ key }: Claim): boolean {
    return this.#shards.clockOf(key).known;
  }

  /** Sends an attempt that is already too late: it changes nothing, and its refusal tells the server's time. */
  async learnTime(claim: Claim): Promise<void> {
    await this.#shards.refuseUnsupported();
    const sent = this.#clock.now();
    const args = attemptArgs(claim, '-', 0, this.#remember);
    this.read(await this.#shards.askOne(ATTEMPT, { key: claim.key, args }), claim, sent);
  }

  /** @param sent when the attempt began, before the time was learnt: a caller that gave up since then has released the claim */
  args(claim: Claim, sent: number): string[] {
    const notAfter = Math.floor((this.#shards.clockOf(claim.key).in(claim.within, sent) ?? 0) * MICRO);
    return attemptArgs(claim, this.#wakeUps.channelOf(claim.key), notAfter, this.#remember);
  }

  /**
   * Undefined means that the claim has to ask again. The clock that learns is the one of the server that has the key now, because
   * the key may have moved during the request.
   */
  read(reply: unknown, claim: Claim, sent: number): Attempt | undefined {
    const { attempt, time } = readAttempt(reply, claim);
    this.#shards.clockOf(claim.key).learn(time / MICRO, sent);
    return attempt;
  }
}
