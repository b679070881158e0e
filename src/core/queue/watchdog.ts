import { inNoContext } from '../contract/clock.ts';
import { reasonOf } from '../contract/errors.ts';
import { leastOf } from '../contract/extremes.ts';
import { Agenda } from '../engine/call-timeouts.ts';
import { CALL_TIMEOUT_MS, type Engine } from '../engine/engine.ts';
import { dispose } from '../engine/listener.ts';
import { endGone } from './eviction.ts';
import { currentClaim, type Hold, WATCHED_AFTER_MS } from './hold.ts';
import { type HoldTiming, leaseLeft, type StandIn } from './hold-timing.ts';

/** The number of holds that one call renews. */
const MAX_BATCH = 500;

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

  /** Sees to it that the timer rings when the hold is due. */
  attend(hold: Hold): void {
    this.#holds.ringBy(due(hold));
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
      const { timing } = hold;
      // A little early, too, so that many holds cost few looks at all of them.
      if (now >= hold.watchAt - WATCHED_AFTER_MS / 2) this.#watch(hold, now);
      if (!timing.lasts(now)) hold.expire();
      else if (now >= timing.noticeAt) {
        const { reason, cause } = whyLost(timing, now);
        timing.cover?.end();
        hold.lose(reason, cause);
      } else if (now >= timing.renewAt - timing.confirmedFor / 30) {
        // Holds are renewed a little early, so that those taken at different times come to share a batch.
        if (timing.renews(now)) batch.push(hold);
        else timing.holdRenewal();
      }
    }
    for (const holds of Map.groupBy(batch, patienceOf).values()) {
      for (let i = 0; i < holds.length; i += MAX_BATCH) void this.#renew(holds.slice(i, i + MAX_BATCH));
    }
    for (const hold of this.#holds.items) this.#holds.ringBy(due(hold), now);
  }

  /** Lets the engine tell of an eviction. If it cannot now, the next renewal tells. */
  #watch(hold: Hold, now: number): void {
    hold.watchAt = Number.POSITIVE_INFINITY;
    const look = (): void => void this.#lookAt(hold);
    try {
      const watch = inNoContext(() => this.#engine.backend.watchHold!(hold.claim, look, now - hold.timing.sent));
      if (!('then' in watch)) {
        hold.watch = watch;
        return;
      }
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

  /** Asks the engine for a hold that may be gone. */
  async #lookAt(hold: Hold): Promise<void> {
    await hold.renewing; // it may have been sent before
    if (hold.over || hold.loss) return;
    const { clock, extensions } = this.#engine;
    const now = clock.resync();
    if (hold.timing.renews(now)) {
      hold.timing.renewAtOnce(now);
      this.#holds.ringBy(now);
    } else await extensions.take(hold.claim.id, () => this.#confirm(hold));
  }

  /** Asks for a hold that is not renewed: the engine keeps it for no longer than its holder counts on. */
  async #confirm(hold: Hold): Promise<void> {
    if (hold.over || hold.loss) return;
    const { clock, backend } = this.#engine;
    const ttl = Math.max(Math.ceil(leaseLeft(hold.timing, clock.now())), backend.traits.ttl.min);
    const [answer] = await this.#engine.renew([{ ...hold.claim, ttl }], CALL_TIMEOUT_MS).catch(() => []);
    if (answer === 'gone') await endGone(hold, 'the engine no longer has it');
    else if (typeof answer !== 'object') hold.timing.doubt(ttl);
  }

  async #renew(batch: readonly Hold[]): Promise<void> {
    const sent = this.#engine.clock.now();
    const claims = batch.map(currentClaim);
    const within = leastOf(batch.map(timeoutFor));
    const renewing = this.#engine.renew(claims, within).then(
      (answers) => ({ answers, error: undefined }),
      (error: unknown) => ({ answers: [], error }),
    );
    for (const hold of batch) hold.noteRenewing(renewing);
    const { answers, error } = await renewing;
    for (const [i, hold] of batch.entries()) {
      hold.noteRenewing(undefined);
      if (hold.over || hold.loss) continue;
      const answer = answers[i];
      const late = !hold.held; // a caller that looked in that time was told that it is over
      if (late) hold.end('its renewal was answered after the deadline');
      else if (answer === 'gone') endGone(hold, 'the engine no longer has it');
      else if (answer === undefined || answer === 'unknown') noteFailedRenewal(hold, claims[i]!.ttl, error);
      else noteRenewal(hold, sent, answer.validFor);
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
function due({ loss, timing, watchAt }: Hold): number {
  return loss ? timing.deadline : Math.min(timing.renewAt, timing.noticeAt, watchAt);
}

/** Gives the time that a hold can wait for an answer, to within a factor of two: a short lease must not share the limit of a long one. */
const patienceOf = (hold: Hold): number => Math.floor(Math.log2(timeoutFor(hold)));

/** Gives the time that a renewal may take, ms: it leaves time for another one before the deadline. */
const timeoutFor = ({ timing }: Hold): number => Math.min(CALL_TIMEOUT_MS, timing.confirmedFor / 3);

/** Notes an answer to a renewal. @param sent when that was sent @param validFor the time for which the answer is good, ms */
export function noteRenewal(hold: Hold, sent: number, validFor: number): void {
  const { timing, keeper } = hold;
  const now = keeper.engine.clock.now();
  const margin = timing.deadline - now;
  timing.noteRenewal(sent, validFor, now);
  hold.tell('renewed', { margin });
}

/** Notes that nobody knows whether the renewal to `ttl` took effect. The old deadline stands, and the next renewal comes soon. */
function noteFailedRenewal(hold: Hold, ttl: number, error: unknown): void {
  const { timing, keeper } = hold;
  const now = keeper.engine.clock.now();
  timing.renewalFailed(ttl, error, now);
  hold.tell('renewalFailed', { margin: timing.deadline - now, error });
}
