import type { Claim, Wake } from '../../core/contract/backend.ts';
import { type Clock, systemClock } from '../../core/contract/clock.ts';

const DONE = Promise.resolve();

/** A claim that waits for its turn. */
interface WaitingClaim {
  readonly claim: Claim;
  readonly wake: Wake;
}

interface WatchOptions {
  /** The time since the claim was sent, ms: if something went unheard since then, the claim is woken at once. Default: it is not. */
  readonly age?: number | undefined;
  /** It is called when the end of this watch leaves the claim without one. */
  readonly over?: () => void;
}

/** The claims of this process that a backend wakes when it is their turn, by id. If a claim is watched twice, the later watch counts. */
export class WaitingClaims extends Map<string, WaitingClaim> {
  readonly #clock: Pick<Clock, 'now'>;
  /** The last time at which a claim that was not watched yet may have missed something. */
  #missed = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'now'> = systemClock) {
    super();
    this.#clock = clock;
  }

  watch(claim: Claim, wake: Wake, { age, over }: WatchOptions = {}): AsyncDisposable {
    const mine: WaitingClaim = { claim, wake };
    this.set(claim.id, mine);
    if (age !== undefined && this.#clock.now() - age <= this.#missed) wake();
    return {
      [Symbol.asyncDispose]: () => {
        if (this.get(claim.id) === mine && this.delete(claim.id)) over?.();
        return DONE;
      },
    };
  }

  /** Gives the claim that a message is for. If it is not here, its attempt may not be answered yet. */
  addressee(id: string): WaitingClaim | undefined {
    const waiting = this.get(id);
    if (!waiting) this.noteMissed();
    return waiting;
  }

  /** Lets a claim that was sent before, and is not watched yet, be woken as soon as it is watched. */
  noteMissed(): void {
    this.#missed = this.#clock.now();
  }

  /** Wakes the claims of a key that words may answer, since words were left. */
  wakeAnswerable(key: string): void {
    this.noteMissed();
    for (const { claim, wake } of [...this.values()]) if (claim.answered && claim.key === key) wake();
  }

  /** Wakes all claims, or some of them, after a time in which a message may have been lost. */
  wakeAll(some?: (claim: Claim) => boolean): void {
    this.noteMissed();
    for (const { claim, wake } of [...this.values()]) if (!some || some(claim)) wake();
  }
}
