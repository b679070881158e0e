import { inNoContext } from '../contract/clock.ts';
import { reasonOf } from '../contract/errors.ts';
import { leastOf } from '../contract/extremes.ts';
import { Agenda } from '../engine/call-timeouts.ts';
import { CALL_TIMEOUT_MS, type Engine } from '../engine/engine.ts';
import { dispose } from '../engine/listener.ts';
import { endGone } from './eviction.ts';
import { currentClaim, type Hold, WATCHED_AFTER_MS } from './hold.ts';
import { type HoldTiming, restOfLease, type StandIn } from './hold-timing.ts';

/** The number of holds that one call renews. */
const MAX_BATCH = 500;

/**
 * Renews the holds of an engine, with one timer for all and one call for many. It does not decide whether a hold is still good. The clock does, since
 * Node may run this timer late after a stall.
 */
export class Watchdog {
  standIn: StandIn | undefined;
  readonly #engine: Engine;
  readonly #holds: Agenda<Hold>;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#holds = new Agenda(engine.clock, () => this.#pass());
  }

  add(hold: Hold): void {
    const { since } = hold.timing;
    this.#holds.add(hold, due(hold), since);
    if (this.standIn && hold.timing.renews(since)) hold.timing.cover = this.standIn.cover(hold.claim, hold.timing);
  }

  remove(hold: Hold): void {
    this.#holds.remove(hold);
    hold.timing.cover?.end();
    if (hold.watch) dispose(hold.watch);
  }

  /** Makes the timer fire when the hold is due. */
  attend(hold: Hold): void {
    this.#holds.fireBy(due(hold));
  }

  get holds(): Iterable<Hold> {
    return this.#holds.items;
  }

  close(): void {
    this.#holds.stop();
  }

  #pass(): void {
    const now = this.#engine.clock.resync();
    const batch: Hold[] = [];
    for (const hold of this.#holds.items) {
      if (hold.over) continue; // a listener that was notified in this pass released it
      const { timing } = hold;
      // The watch may begin a little early, so that holds that are due at about the same time share one pass.
      if (now >= hold.watchAt - WATCHED_AFTER_MS / 2) this.#watch(hold, now);
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
    const kept = batch.filter(({ over }) => !over); // a hold that was released may have passed on, with the same claim
    for (const holds of Map.groupBy(kept, patienceOf).values()) {
      for (let i = 0; i < holds.length; i += MAX_BATCH) void this.#renew(holds.slice(i, i + MAX_BATCH));
    }
    for (const hold of this.#holds.items) this.#holds.fireBy(due(hold), now);
  }

  /** Asks the engine to notify this process of an eviction. If it cannot watch now, the next renewal detects the eviction. */
  #watch(hold: Hold, now: number): void {
    hold.watchAt = Number.POSITIVE_INFINITY;
    const look = (): void => {
      hold.wokenAt = this.#engine.clock.now();
      void this.#lookAt(hold);
    };
    try {
      const age = now - hold.timing.confirmation.sent;
      const watch = inNoContext(() => this.#engine.backend.watchHold!(hold.claim, look, age));
      if (!('then' in watch)) hold.watch = watch;
      else
        watch.then(
          (armed) => {
            if (hold.over) return dispose(armed);
            hold.watch = armed;
            look();
          },
          () => {},
        );
    } catch {}
  }

  /** Asks whether the engine still has a hold that may be gone. */
  async #lookAt(hold: Hold): Promise<void> {
    await hold.timing.renewing; // its answer may be older than the notification
    if (hold.over) return;
    const { clock, extensions } = this.#engine;
    const now = clock.resync();
    if (hold.timing.renews(now) && !hold.loss) {
      hold.timing.renewAtOnce(now);
      this.#holds.fireBy(now);
    } else await extensions.take(hold.claim.id, () => this.#confirm(hold));
  }

  /** Asks whether the engine still has a hold that is not renewed, or not any more: by a renewal for just the rest of its lease. */
  async #confirm(hold: Hold): Promise<void> {
    if (hold.over) return;
    const { clock, backend } = this.#engine;
    hold.timing.lasts(clock.now()); // what the stand-in has confirmed until now counts
    hold.timing.cover?.end(); // what it confirms later was on its way before the shorter lease
    const ttl = Math.max(Math.ceil(restOfLease(hold.timing, clock.now())), backend.traits.ttl.min);
    const within = Math.min(CALL_TIMEOUT_MS, ttl); // a later answer comes after the deadline
    const [answer] = await this.#engine.renew([{ ...hold.claim, ttl }], within).catch(() => []);
    if (typeof answer !== 'object') hold.timing.doubt(ttl); // a hold that was released in this turn may still pass on
    if (answer === 'gone') await endGone(hold, 'the engine no longer has it');
  }

  async #renew(batch: readonly Hold[]): Promise<void> {
    const sent = this.#engine.clock.now();
    const claims = batch.map(currentClaim);
    const within = leastOf(batch.map(timeoutFor));
    let error: unknown;
    const renewing = this.#engine.renew(claims, within).catch((failure: unknown) => {
      error = failure;
      return [];
    });
    for (const hold of batch) hold.noteRenewing(renewing);
    const answers = await renewing;
    for (const [i, hold] of batch.entries()) {
      hold.noteRenewing(undefined);
      const answer = answers[i] ?? 'unknown';
      if (typeof answer !== 'object') hold.timing.doubt(claims[i]!.ttl); // a hold that was released in this turn may still pass on
      if (hold.over || (hold.loss && answer !== 'gone')) continue; // a late success revives nothing
      if (!hold.held)
        hold.end('its renewal was answered after the deadline'); // a caller may have seen meanwhile that it is not held
      else if (answer === 'gone') endGone(hold, 'the engine no longer has it');
      else if (answer === 'unknown') noteFailedRenewal(hold, error);
      else noteRenewal(hold, sent, answer.validFor);
      this.#holds.fireBy(due(hold));
    }
  }
}

/** Gives the reason for the loss of a hold that is about to reach its deadline. */
function whyLost(timing: HoldTiming, now: number): { readonly reason: string; readonly cause?: unknown } {
  const { failure } = timing;
  if (!timing.renews(now)) return { reason: 'its time is up and it is not renewed' };
  const reason = 'renewal failed until shortly before the deadline';
  return failure === undefined ? { reason } : { reason: `${reason} (${reasonOf(failure)})`, cause: failure };
}

/** Gives the time at which the watchdog has to look at a hold next. */
function due({ loss, timing, watchAt }: Hold): number {
  return loss ? timing.deadline : Math.min(timing.renewAt, timing.noticeAt, watchAt);
}

/** Groups holds by the time that they can wait for an answer, to within a factor of two. So a long lease does not get the limit of a short one. */
const patienceOf = (hold: Hold): number => Math.floor(Math.log2(timeoutFor(hold)));

/** Gives the time that a renewal may take, ms: so short that another one can follow before the loss signal. */
const timeoutFor = ({ timing }: Hold): number => Math.min(CALL_TIMEOUT_MS, timing.patience);

/** Notes an answer to a renewal. @param sent when the renewal was sent @param validFor the time for which the answer is good, ms */
export function noteRenewal(hold: Hold, sent: number, validFor: number): void {
  const { timing, keeper } = hold;
  const now = keeper.engine.clock.now();
  const margin = timing.deadline - now;
  timing.noteRenewal(sent, validFor, now);
  hold.publish('renewed', { margin });
}

/** Notes that it is not known whether the renewal took effect. The old deadline stands, and the next renewal comes soon. */
function noteFailedRenewal(hold: Hold, error: unknown): void {
  const { timing, keeper } = hold;
  const now = keeper.engine.clock.now();
  timing.renewalFailed(error, now);
  hold.publish('renewalFailed', { margin: timing.deadline - now, error });
}
