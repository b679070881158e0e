import type { Attempt, Claim, Grant } from './backend.ts';
import { deadlineOf, type Granted } from './deadline.ts';
import type { Engine } from './engine.ts';
import { isLockError } from './errors.ts';
import { Listener } from './listener.ts';
import type { Terms } from './options.ts';
import { polledPause, watchedPause } from './pause.ts';

/** How long a waiter outlives an engine that does not answer. ms. */
const TROUBLE = 10_000;
/** Refusals for lateness that teach the engine's time; more of them are trouble. */
const LESSONS = 3;

/** What the engine answered to a request sent at `sent`. */
interface Answer {
  readonly sent: number;
  readonly attempt: Attempt;
}

/** A claim on its way with the release of another: when that was sent, and what will be answered, if anything. */
export interface Riding {
  readonly sent: number;
  readonly attempt: Promise<Attempt | undefined>;
}

/**
 * One claim standing in the engine's line: attempt, arm the watch, attempt, sleep until woken or until it is time to ask
 * again. However the stand ends, it leaves nothing behind but the hold it gave.
 */
export class Place {
  claim: Claim;
  /** What went wrong last, while nothing has gone right since. */
  trouble: unknown;
  readonly #engine: Engine;
  readonly #spin: Terms['spin'];
  readonly #patient: boolean;
  readonly #onWait: () => void;
  readonly #listener: Listener;
  /** When the last answered attempt was sent; the first attempt counts before it is answered. */
  #sent: number | undefined;
  /** When the last request was sent that was answered, or the very first. */
  #sound: number | undefined;
  #lessons = 0;
  #cancelled = false;

  /**
   * @param patient keeps asking after a refusal
   * @param onWait called at every refusal it does not take for an answer
   */
  constructor(engine: Engine, claim: Claim, spin: Terms['spin'], patient: boolean, onWait: () => void) {
    this.#engine = engine;
    this.claim = claim;
    this.#spin = spin;
    this.#patient = patient;
    this.#onWait = onWait;
    this.#listener = new Listener(engine.backend, engine.clock);
  }

  cancel(): void {
    this.#cancelled = true;
    this.#listener.ring();
  }

  /** Opens the mailbox if that is free now: then the claim may ride on a release, and no grant goes unheard. */
  open(): boolean {
    if (this.#engine.backend.traits.wakes === 'mailbox' && this.#listener.arm(this.claim)) return true;
    this.#listener.disarm();
    return false;
  }

  /**
   * @param riding when its first attempt is part of a release
   * @returns undefined when refused and not patient, or cancelled
   * @throws LockError what the engine refused with, or `LOCK_UNAVAILABLE`
   */
  async stand(riding?: Riding): Promise<Granted | undefined> {
    let kept = false;
    this.#sent = riding?.sent; // sent is sent, whether or not it is ever answered
    try {
      const granted = await this.#stand(riding);
      kept = granted !== undefined && !this.#cancelled;
      return kept ? granted : undefined;
    } catch (error) {
      if (isLockError(error)) throw error;
      throw this.#engine.unavailable(this.claim.key, error);
    } finally {
      this.#listener.disarm();
      if (!kept && this.#sent !== undefined) this.#engine.withdraw(this.claim);
    }
  }

  async #stand(riding?: Riding): Promise<Granted | undefined> {
    const { backend, clock } = this.#engine;
    const { wakes } = backend.traits;
    let answer = riding && (await answerTo(riding));
    for (let tries = 0; !this.#cancelled; tries++) {
      if (wakes === 'mailbox' && this.claim.queue) this.#listener.arm(this.claim);
      if (!this.#listener.mail) answer ??= await this.#ask();
      const granted = this.#granted(answer);
      if (granted) {
        if (deadlineOf(granted.sent, granted.validFor) > clock.now()) return granted;
        this.#startAnew();
        if (!this.#patient) throw new Error(`the answer took longer than the lease of ${this.claim.ttl} ms lasts`);
        await this.#listener.sleep(polledPause(this.claim, this.#spin, tries, clock.random()));
      } else if (!answer) {
        await this.#listener.sleep(polledPause(this.claim, this.#spin, tries, clock.random()));
      } else if (this.#patient) {
        this.#onWait();
        if (wakes === 'watch') this.#listener.arm(this.claim);
        const { attempt } = answer;
        await this.#listener.sleep(
          wakes === 'never' || attempt.granted
            ? polledPause(this.claim, this.#spin, tries, clock.random())
            : watchedPause(this.claim, attempt, clock.random()),
        );
      } else {
        this.#sent = undefined; // a refusal without a place leaves nothing to withdraw
        return undefined;
      }
      answer = undefined;
    }
    return undefined;
  }

  /** An attempt; undefined when its outcome is unknown and it is worth asking again. */
  async #ask(): Promise<Answer | undefined> {
    const { clock } = this.#engine;
    const sent = clock.now();
    const before = this.#sent ?? sent;
    this.#sent = before;
    this.#sound ??= sent;
    try {
      const attempt = await this.#engine.attempt(this.claim);
      if (!attempt.granted && attempt.late) {
        if (++this.#lessons <= LESSONS) return this.#ask();
        throw new Error(`every request came later than ${this.claim.within} ms`);
      }
      this.#sound = sent;
      this.trouble = undefined;
      if (!attempt.granted && this.claim.queue && clock.now() - before >= this.claim.ttl) {
        // The id may have been admitted and have lapsed unheard, so that this is another place in its name: mail for the
        // first one, still on its way, would be taken for a grant of the second.
        this.#startAnew();
        return undefined;
      }
      this.#sent = sent;
      return { sent, attempt };
    } catch (error) {
      this.trouble = error;
      if (this.#listener.mail) return undefined;
      if (isLockError(error) || !this.#patient || sent - this.#sound > TROUBLE) throw error;
      return undefined;
    }
  }

  /**
   * The grant, by answer or by mail. A refusal that comes after the mail is older than it; a grant is not: the mail may be
   * of an earlier life of the same id, which lapsed unheard.
   */
  #granted(answer: Answer | undefined): Granted | undefined {
    const { mail } = this.#listener;
    const grant: Grant | undefined = answer?.attempt.granted ? answer.attempt : mail;
    if (!grant || this.#sent === undefined) return undefined;
    return { ticket: grant.ticket, sent: this.#sent, validFor: grant.validFor, lost: grant.lost };
  }

  /** As another claim: an id that is given back is never used again. */
  #startAnew(): void {
    this.#listener.disarm();
    this.#engine.withdraw(this.claim);
    this.claim = { ...this.claim, id: this.#engine.clock.id() };
    this.#sent = undefined;
  }
}

/** Undefined when it has to be asked again: not answered, not taken along, or too late. */
async function answerTo({ sent, attempt }: Riding): Promise<Answer | undefined> {
  const answer = await attempt;
  return answer && (answer.granted || !answer.late) ? { sent, attempt: answer } : undefined;
}
