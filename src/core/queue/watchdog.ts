import { reasonOf } from '../contract/errors.ts';
import { leastOf } from '../contract/extremes.ts';
import { Agenda } from '../engine/call-timeouts.ts';
import { CALL_TIMEOUT, type Engine } from '../engine/engine.ts';
import { endGone, type Hold } from './hold.ts';
import type { HoldTiming } from './hold-timing.ts';
import type { StandIn } from './stand-in.ts';

/** The number of holds that one call renews. */
const BATCH = 500;

/**
 * The watchdog: one timer for all holds of an engine, and one call for many renewals. It only notifies. The clock decides whether a hold is
 * good, also here, since Node may run this timer late after a stall.
 */
export class Watchdog {
  standIn: StandIn | undefined;
  readonly #engine: Engine;
  readonly #holds: Agenda<Hold>;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#holds = new Agenda(engine.clock, () => this.#pass());
  }

  /** Begins to look after a hold that has just been granted. */
  add(hold: Hold): void {
    const { since } = hold.timing;
    this.#holds.add(hold, due(hold), since);
    if (this.standIn && hold.timing.renews(since)) hold.timing.cover = this.standIn.cover(hold.claim, hold.timing);
  }

  remove(hold: Hold): void {
    this.#holds.remove(hold);
    hold.timing.cover?.end();
  }

  /** Sees to it that the timer rings when the hold is due. */
  attend(hold: Hold): void {
    this.#holds.ringBy(due(hold));
  }

  get holds(): Iterable<Hold> {
    return this.#holds.items;
  }

  /** Ends the timer: no more holds will come. */
  close(): void {
    this.#holds.stop();
  }

  #pass(): void {
    const now = this.#engine.clock.resync();
    const batch: Hold[] = [];
    for (const hold of this.#holds.items) {
      const { timing } = hold;
      if (!timing.lasts(now)) hold.expire();
      else if (now >= timing.noticeAt) {
        const { reason, cause } = whyLost(timing, now);
        timing.cover?.end();
        hold.lose(reason, cause);
      } else if (now >= timing.renewAt - timing.confirmedFor / 30) {
        // Holds are renewed a little early, so that those taken at different times come to share a batch.
        if (timing.renews(now)) batch.push(hold);
        else timing.renewAt = Number.POSITIVE_INFINITY;
      }
    }
    for (const holds of Map.groupBy(batch, patienceOf).values()) {
      for (let i = 0; i < holds.length; i += BATCH) void this.#renew(holds.slice(i, i + BATCH));
    }
    for (const hold of this.#holds.items) this.#holds.ringBy(due(hold), now);
  }

  async #renew(batch: readonly Hold[]): Promise<void> {
    const sent = this.#engine.clock.now();
    const claims = batch.map(({ currentClaim }) => currentClaim);
    for (const { timing } of batch) timing.renewAt = Number.POSITIVE_INFINITY; // no renewal is due until this one is answered
    const within = leastOf(batch.map(timeoutFor));
    const renewing = this.#engine.renew(claims, within).then(
      (answers) => ({ answers, error: undefined }),
      (error: unknown) => ({ answers: [], error }),
    );
    for (const hold of batch) {
      hold.renewing = renewing;
      hold.life.leases.watch(hold);
    }
    const { answers, error } = await renewing;
    for (const [i, hold] of batch.entries()) {
      hold.renewing = undefined;
      if (hold.life.over || hold.life.loss) continue;
      const answer = answers[i];
      const late = !hold.held; // a caller that looked in that time was told that it is over
      if (late) hold.end('its renewal was answered after the deadline');
      else if (answer === 'gone') endGone(hold, 'the engine no longer has it');
      else if (answer === undefined || answer === 'unknown') hold.renewalFailed(claims[i]!.ttl, error);
      else hold.noteRenewal(sent, answer.validFor);
      this.#holds.ringBy(due(hold));
    }
  }
}

/** Says why a hold is lost that is about to reach its deadline. */
function whyLost(timing: HoldTiming, now: number): { readonly reason: string; readonly cause?: unknown } {
  const { failure } = timing;
  if (!timing.renews(now)) return { reason: 'its time is up and it is not renewed' };
  const reason = 'renewal failed until shortly before the deadline';
  return failure === undefined ? { reason } : { reason: `${reason} (${reasonOf(failure)})`, cause: failure };
}

/** Gives the time at which the watchdog has to look at a hold next. */
function due({ life, timing }: Hold): number {
  return life.loss ? timing.deadline : Math.min(timing.renewAt, timing.noticeAt);
}

/** Gives the time that a hold can wait for an answer, to within a factor of two: a short lease must not share the limit of a long one. */
const patienceOf = (hold: Hold): number => Math.floor(Math.log2(timeoutFor(hold)));

/** Gives the time that a renewal may take, ms: it leaves time for another one before the deadline. */
const timeoutFor = ({ timing }: Hold): number => Math.min(CALL_TIMEOUT, timing.confirmedFor / 3);
