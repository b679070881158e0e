import type { Claim, Clock, Wake } from '../../core/index.ts';

const DONE = Promise.resolve();

interface WaitingClaim {
  readonly claim: Claim;
  readonly wake: Wake;
}

/** The claims of this process that a backend wakes when they are admitted, by id. If a claim is watched twice, the later watch counts. */
export class WaitingClaims extends Map<string, WaitingClaim> {
  /** @param over called when this watch ends, unless a later watch of the claim has replaced it */
  watch(claim: Claim, wake: Wake, over?: () => void): AsyncDisposable {
    const mine: WaitingClaim = { claim, wake };
    this.set(claim.id, mine);
    return {
      [Symbol.asyncDispose]: () => {
        if (this.get(claim.id) === mine && this.delete(claim.id)) over?.();
        return DONE;
      },
    };
  }
}

/** The waiting claims of an engine whose notification for a claim may come before the claim is watched. */
export class BufferedClaims extends WaitingClaims {
  readonly #clock: Pick<Clock, 'now'>;
  /** The last time at which a claim that is not watched yet may have missed a notification. */
  #missed = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'now'>) {
    super();
    this.#clock = clock;
  }

  /** Watches a claim that was sent `age` ms ago. If it may have missed a notification since then, wakes it at once. */
  watchSince(claim: Claim, wake: Wake, age: number | undefined): AsyncDisposable {
    const watch = this.watch(claim, wake);
    if (this.mayHaveMissed(age)) wake();
    return watch;
  }

  /** @param age ms since the claim was sent; undefined: it was not sent, and so has missed nothing */
  mayHaveMissed(age: number | undefined): boolean {
    return age !== undefined && this.#clock.now() - age <= this.#missed;
  }

  /** The claim that a notification is for. If the claim is not here, its attempt may still be under way. */
  addressee(id: string): WaitingClaim | undefined {
    const waiting = this.get(id);
    if (!waiting) this.noteMissed();
    return waiting;
  }

  /** Notes that claims which were sent before now, and are not watched yet, may have missed a notification. */
  noteMissed(): void {
    this.#missed = this.#clock.now();
  }

  /** Call this when a value was stored under the key. Wakes each claim of the key that the value may answer. */
  wakeAnswerable(key: string): void {
    this.noteMissed();
    for (const { claim, wake } of [...this.values()]) if (claim.accepts && claim.key === key) wake();
  }

  /** Wakes all claims, or some of them, after a time in which a message may have been lost. */
  wakeAll(some?: (claim: Claim) => boolean): void {
    this.noteMissed();
    for (const { claim, wake } of [...this.values()]) if (!some || some(claim)) wake();
  }
}
