import type { Attempt } from '../contract/backend.ts';
import { isLockError } from '../contract/errors.ts';
import { type AcquireRequest, askedOf } from '../line/acquire-request.ts';
import { AskedClaim, type PiggybackedAttempt } from './asked-claim.ts';
import type { Granted } from './deadline.ts';
import { pauseAfter } from './pause.ts';

/**
 * What an answer, or none, comes to. `over`: a grant of which too little is left. `late`: the engine knows the time by now, and is
 * asked at once. `unknown`: it has to be asked again.
 */
type Verdict = 'held' | 'over' | 'late' | 'refused' | 'unknown';

function verdictOn(attempt: Attempt | undefined, granted: Granted | undefined, lasts: boolean): Verdict {
  if (granted) return lasts && !granted.lost?.aborted ? 'held' : 'over';
  if (!attempt) return 'unknown';
  return !attempt.granted && attempt.late ? 'late' : 'refused';
}

type OnWait = (request: AcquireRequest | undefined) => void;

/**
 * One claim standing in the engine's line: attempt, arm the watch, attempt, sleep until woken or until it is time to ask
 * again. However the stand ends, it leaves nothing behind but the hold it gave.
 */
export class QueuedClaim extends AskedClaim {
  standFor(request: AcquireRequest): void {
    this.request = request;
    request.queued = this;
    request.number = this.claim.number;
  }

  leave(): void {
    this.request = undefined;
    this.listener.ring();
  }

  /** Opens the mailbox if that is free now: then the claim may ride on a release, and no grant goes unheard. */
  open(): boolean {
    if (this.engine.backend.traits.wakes === 'mailbox' && this.listener.arm(this.claim)) return true;
    this.listener.disarm();
    return false;
  }

  /**
   * Gives undefined when refused and not patient, or left.
   * @param onWait called at each refusal of one who waits
   * @param piggybacked its first attempt, which is part of a release
   * @throws LockError what the engine refused with, or `LOCK_UNAVAILABLE`
   */
  async stand(onWait: OnWait, piggybacked?: PiggybackedAttempt): Promise<Granted | undefined> {
    const { wakes } = this.engine.backend.traits;
    let kept: Granted | undefined;
    try {
      let attempt = piggybacked && (await this.takenAlong(piggybacked));
      for (let tries = 0; this.request; ) {
        if (wakes === 'mailbox' && this.claim.queue) this.listener.arm(this.claim);
        if (!this.mail) attempt ??= await this.ask();
        const granted = this.granted(attempt);
        switch (verdictOn(attempt, granted, granted !== undefined && this.lasts(granted))) {
          case 'held':
            if (this.request) kept = granted;
            return kept;
          case 'over':
            this.#tooLate(granted!);
            attempt = undefined;
            break;
          case 'late':
            attempt = undefined;
            continue;
          case 'refused':
            if (!this.patient) {
              this.leftNothing();
              return undefined;
            }
            onWait(this.request);
            if (wakes === 'watch') this.listener.arm(this.claim);
        }
        await this.listener.sleep(this.#pauseAfter(attempt, tries++));
        attempt = undefined;
      }
      return undefined;
    } catch (error) {
      if (isLockError(error)) throw error;
      throw this.engine.unavailable(this.claim.key, error, 'What it may have done is being undone; try again');
    } finally {
      this.listener.disarm();
      if (!kept) this.withdraw();
    }
  }

  #tooLate({ validFor }: Granted): void {
    if (validFor <= this.resolved.delay) throw new Error(`a hold is good for ${validFor} ms, with its delay`);
    this.startAnew();
    if (!this.patient) throw new Error(`the hold, of ${askedOf(this.resolved)} ms, was over before its answer came`);
  }

  /** In trouble the last attempt is sent when the time is over, not later: only then it ends within the limit of a call. */
  #pauseAfter(attempt: Attempt | undefined, tries: number): number {
    const { backend, clock } = this.engine;
    const { queue, placeTtl } = this.claim;
    const needs = { ttl: askedOf(this.resolved), queue, placeTtl };
    const pause = pauseAfter(attempt, backend.traits.wakes, needs, this.resolved.spin, tries, clock.random());
    return Math.min(pause, Math.max(1, this.outage.limit(this.began) - clock.now()));
  }
}
