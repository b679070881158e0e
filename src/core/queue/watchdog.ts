import type { Cancel } from '../contract/clock.ts';
import { inNoContext } from '../contract/context.ts';
import { reasonOf } from '../contract/errors.ts';
import { leastOf } from '../contract/extremes.ts';
import { Agenda } from '../engine/call-timeouts.ts';
import { CALL_TIMEOUT, type Engine } from '../engine/engine.ts';
import { dispose } from '../engine/listener.ts';
import { endGone, type Hold, WATCHED_AFTER_MS } from './hold.ts';
import { type HoldTiming, leaseLeft, type StandIn } from './hold-timing.ts';

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
    dispose(hold.watch);
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
      for (let i = 0; i < holds.length; i += BATCH) void this.#renew(holds.slice(i, i + BATCH));
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
          if (hold.life.over) return dispose(armed);
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
    if (hold.life.over || hold.life.loss) return;
    const { clock, extensions } = this.#engine;
    const now = clock.resync();
    if (hold.timing.renews(now)) {
      hold.timing.renewAtOnce(now);
      this.#holds.ringBy(now);
    } else await extensions.take(hold.claim.id, () => this.#confirm(hold));
  }

  /** Asks for a hold that is not renewed: the engine keeps it for no longer than its holder counts on. */
  async #confirm(hold: Hold): Promise<void> {
    if (hold.life.over || hold.life.loss) return;
    const { clock, backend } = this.#engine;
    const ttl = Math.max(Math.ceil(leaseLeft(hold.timing, clock.now())), backend.traits.ttl.min);
    const [answer] = await this.#engine.renew([{ ...hold.claim, ttl }], CALL_TIMEOUT).catch(() => []);
    if (answer === 'gone') await endGone(hold, 'the engine no longer has it');
    else if (typeof answer !== 'object') hold.timing.doubt(ttl);
  }

  async #renew(batch: readonly Hold[]): Promise<void> {
    const sent = this.#engine.clock.now();
    const claims = batch.map(({ currentClaim }) => currentClaim);
    const within = leastOf(batch.map(timeoutFor));
    const renewing = this.#engine.renew(claims, within).then(
      (answers) => ({ answers, error: undefined }),
      (error: unknown) => ({ answers: [], error }),
    );
    for (const hold of batch) {
      hold.noteRenewing(renewing);
    }
    const { answers, error } = await renewing;
    for (const [i, hold] of batch.entries()) {
      hold.noteRenewing(undefined);
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
function due({ life, timing, watchAt }: Hold): number {
  return life.loss ? timing.deadline : Math.min(timing.renewAt, timing.noticeAt, watchAt);
}

/** Gives the time that a hold can wait for an answer, to within a factor of two: a short lease must not share the limit of a long one. */
const patienceOf = (hold: Hold): number => Math.floor(Math.log2(timeoutFor(hold)));

/** Gives the time that a renewal may take, ms: it leaves time for another one before the deadline. */
const timeoutFor = ({ timing }: Hold): number => Math.min(CALL_TIMEOUT, timing.confirmedFor / 3);

/** The longest time for which a caller waits here behind a hold that nobody renews, before it stands in the engine's line itself, ms. */
const MAX_TRUST_MS = 2_000;

/**
 * Looks after the holds of a key that are not renewed, or not for ever. No answer tells this process when the engine has taken one of them
 * back, as at a forced release: a claim of a caller that waits behind it finds out. The timer also keeps a process alive that waits for
 * nothing but the end of such a hold.
 */
export class Lookout {
  readonly #engine: Engine;
  readonly #waiting: { readonly head: unknown };
  readonly #standApart: () => void;
  readonly #holds = new Set<Hold>();
  #cancel: Cancel | undefined;

  /**
   * @param waiting the callers here; the head of those that do not stand in the engine's queue
   * @param standApart lets that head stand in the engine's queue, too
   */
  constructor(engine: Engine, waiting: { readonly head: unknown }, standApart: () => void) {
    this.#engine = engine;
    this.#waiting = waiting;
    this.#standApart = standApart;
  }

  /** Looks after a hold that was granted just now, if that may end without a release. */
  begin(hold: Hold): void {
    if (this.#holds.size > 0) this.#noteGrant(hold);
    if (hold.mayExpire) this.#holds.add(hold);
    this.follow();
  }

  remove(hold: Hold): void {
    this.#holds.delete(hold);
  }

  /** Sets the timer when somebody waits behind such a hold, and ends it when nobody does. */
  follow(): void {
    const waitedFor = this.#waiting.head !== undefined;
    if (!this.#cancel && waitedFor && this.#holds.size > 0) {
      this.#cancel = this.#engine.clock.after(MAX_TRUST_MS, this.#look);
    } else if (this.#cancel && !waitedFor) {
      this.#cancel();
      this.#cancel = undefined;
    }
  }

  readonly #look = (): void => {
    this.#cancel = undefined;
    const now = this.#engine.clock.now();
    for (const { timing } of this.#holds) {
      if (timing.renews(now)) continue;
      this.#standApart();
      break;
    }
    this.follow();
  };

  /** Ends the holds beside which the engine would not have granted this one: it no longer has them. */
  #noteGrant({ claim }: Hold): void {
    for (const old of this.#holds) {
      const fits = old.claim.units + claim.units <= Math.min(old.claim.capacity, claim.capacity);
      if (old.claim !== claim && !fits) void endGone(old, 'the engine no longer has it');
    }
  }
}
