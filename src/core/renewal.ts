import { Alarm } from './alarm.ts';
import { CALL_TIMEOUT, type Engine, reasonOf } from './engine.ts';
import type { Hold } from './hold.ts';

/** Holds renewed by one call. */
const BATCH = 500;

/**
 * The watchdog: one timer for all holds of an engine, one call for many renewals. It notifies; whether a hold is good is
 * decided by comparing the clock, also here, since after a stall Node may run this timer late.
 */
export class Renewal {
  readonly #engine: Engine;
  /** By id, so that the answer to a renewal finds the hands the hold is in now. */
  readonly #holds = new Map<string, Hold>();
  readonly #alarm: Alarm;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#alarm = new Alarm(
      engine.clock,
      () => this.#holds.size > 0,
      () => this.#pass(),
    );
  }

  /** Adds a hold, or puts it in the place of the hands it comes from. */
  add(hold: Hold): void {
    this.#holds.set(hold.claim.id, hold);
    this.#alarm.by(due(hold));
  }

  remove(hold: Hold): void {
    if (this.#holds.get(hold.claim.id) === hold) this.#holds.delete(hold.claim.id);
  }

  get holds(): Iterable<Hold> {
    return this.#holds.values();
  }

  /** No more holds will come. */
  close(): void {
    this.#alarm.stop();
  }

  #pass(): void {
    const now = this.#engine.clock.resync();
    const batch: Hold[] = [];
    for (const hold of [...this.#holds.values()]) {
      if (now >= hold.deadline) hold.end(hold.loss?.message ?? 'its deadline passed without a renewal');
      else if (now >= hold.noticeAt) hold.lose(...whyLost(hold));
      else if (now >= hold.renewAt - hold.confirmedFor / 30) {
        // A little early, so that holds taken at different times come to share a batch.
        if (hold.renews) batch.push(hold);
        else hold.renewAt = Number.POSITIVE_INFINITY;
      }
    }
    for (const holds of byPatience(batch).values()) {
      for (let i = 0; i < holds.length; i += BATCH) void this.#renew(holds.slice(i, i + BATCH));
    }
    for (const hold of this.#holds.values()) this.#alarm.by(due(hold));
  }

  async #renew(batch: readonly Hold[]): Promise<void> {
    const sent = this.#engine.clock.now();
    const claims = batch.map(({ claim }) => claim);
    for (const hold of batch) hold.renewAt = Number.POSITIVE_INFINITY; // until it is answered
    const within = Math.min(...batch.map(timeoutFor));
    const renewing = this.#engine.renew(claims, within).catch((error: unknown) => ({ error }));
    for (const hold of batch) hold.renewing = renewing;
    const answers = await renewing;
    for (const [i, { id, ttl }] of claims.entries()) {
      const hold = this.#holds.get(id);
      if (hold) hold.renewing = undefined;
      if (!hold || hold.loss) continue;
      const answer = 'error' in answers ? 'unknown' : answers[i];
      const late = this.#engine.clock.now() >= hold.deadline; // whoever looked meanwhile was told that it is over
      if (late) hold.end('its renewal was answered after the deadline');
      else if (answer === 'gone') hold.end('the engine no longer has it');
      else if (answer === undefined || answer === 'unknown')
        hold.renewalFailed(ttl, 'error' in answers ? answers.error : undefined);
      else hold.renewed(sent, answer.validFor);
      if (!hold.over) this.#alarm.by(due(hold));
    }
  }
}

/** Why one is lost that is about to reach its deadline. */
function whyLost({ renews, failure }: Hold): [reason: string, cause?: unknown] {
  if (!renews) return ['its time is up and it is not renewed'];
  const reason = 'renewal failed until shortly before the deadline';
  return failure === undefined ? [reason] : [`${reason} (${reasonOf(failure)})`, failure];
}

/** When something has to be done about a hold. */
function due(hold: Hold): number {
  return hold.loss ? hold.deadline : Math.min(hold.renewAt, hold.noticeAt);
}

/** By how long they can wait for an answer, to within a factor of two: a short lease must not take the time that a long one has. */
function byPatience(holds: readonly Hold[]): Map<number, Hold[]> {
  const groups = new Map<number, Hold[]>();
  for (const hold of holds) {
    const size = Math.floor(Math.log2(timeoutFor(hold)));
    const group = groups.get(size);
    if (group) group.push(hold);
    else groups.set(size, [hold]);
  }
  return groups;
}

/** ms that a renewal of it may take: long enough before the deadline there has to be another. */
const timeoutFor = ({ confirmedFor }: Hold): number => Math.min(CALL_TIMEOUT, confirmedFor / 3);
