import { type Clock, type Cover, type Handle, MAX_DURATION_MS, type Schedule } from '../../core/index.ts';
import { type Moment, type RenewalPlan, Segment, type SharedClock, SLOTS } from './table.ts';

/** If the clock gains more than this on the shared clock, ms, the machine was suspended; less is rounding. */
const MIN_SUSPENSION_MS = 100;

/**
 * Converts between moments of the shared clock and times of this thread's clock. Only this thread's clock adds a suspension of the machine, as soon
 * as it notices one. All earlier moments count as before the suspension, so a lease may end sooner, but not later.
 */
export class Conversion {
  readonly #clock: Clock;
  readonly #shared: SharedClock;
  #ahead: number;
  /** How long each suspension was, ms, and when the clock noticed it. The latest is the last. */
  #suspensions: { readonly from: Moment; readonly slept: number }[] = [];

  constructor(clock: Clock, shared: SharedClock) {
    this.#clock = clock;
    this.#shared = shared;
    this.#ahead = clock.now() - shared();
  }

  momentOf(time: number): Moment {
    const { moment, now } = this.look();
    return moment + time - now;
  }

  /** Converts a moment of the shared clock to this thread's clock, less the suspensions noticed since. 1 ms early, because of the rounding. */
  timeOf(then: Moment): number {
    const { moment, now } = this.look();
    const since = this.#suspensions.filter(({ from }) => from > then);
    const slept = since.reduce((sum, each) => sum + each.slept, 0);
    return now - (moment - then) - slept - 1;
  }

  /** Notes a suspension. It is called regularly, so that two suspensions do not count as one. */
  look(): { moment: Moment; now: number } {
    const moment = this.#shared();
    const now = this.#clock.now();
    const slept = Math.round(now - moment - this.#ahead);
    this.#ahead = now - moment;
    if (slept > MIN_SUSPENSION_MS) {
      const recent = this.#suspensions.filter(({ from }) => moment - from < MAX_DURATION_MS);
      this.#suspensions = [...recent, { from: moment, slept }];
    }
    return { moment, now };
  }
}

interface Place {
  readonly segment: Segment;
  readonly slot: number;
}

/** Gives each hold a place in shared memory, and takes it back. */
export class CoverTable {
  readonly #conversion: Conversion;
  readonly #onGrowth: (segment: Segment) => void;
  readonly #free: Place[] = [];
  #generation = 0;

  /** @param onGrowth called with each new segment before it has a hold */
  constructor(conversion: Conversion, onGrowth: (segment: Segment) => void) {
    this.#conversion = conversion;
    this.#onGrowth = onGrowth;
  }

  take(handle: Handle, schedule: Schedule): Cover | undefined {
    if (this.#free.length === 0) this.#grow();
    const place = this.#free.pop()!;
    const generation = this.next();
    const taken = place.segment.put(place.slot, generation, handle, this.planOf(schedule));
    if (taken) return new Covering(this, place, generation, schedule.ttl);
    this.#free.push(place);
    return undefined;
  }

  giveBack(place: Place): void {
    place.segment.free(place.slot);
    this.#free.push(place);
  }

  /** @returns a new generation, which is never 0 */
  next(): number {
    return ++this.#generation;
  }

  planOf({ ttl, sent, interval, renewedUntil }: Schedule): RenewalPlan {
    return {
      ttl,
      sent: this.#conversion.momentOf(sent),
      interval: Math.max(1, interval),
      until: this.#conversion.momentOf(renewedUntil),
    };
  }

  timeOf(moment: Moment): number {
    return this.#conversion.timeOf(moment);
  }

  #grow(): void {
    const segment = new Segment();
    this.#onGrowth(segment);
    for (let slot = SLOTS - 1; slot >= 0; slot--) this.#free.push({ segment, slot });
  }
}

class Covering implements Cover {
  readonly #table: CoverTable;
  readonly #place: Place;
  #generation: number;
  #ttl: number;
  /** Whether a renewal for an earlier `ttl` may still be on its way. */
  #doubt = false;
  #ended = false;

  constructor(table: CoverTable, place: Place, generation: number, ttl: number) {
    this.#table = table;
    this.#place = place;
    this.#generation = generation;
    this.#ttl = ttl;
  }

  get confirmed(): number | undefined {
    if (this.#ended) return undefined;
    const { segment, slot } = this.#place;
    const moment = segment.lastConfirmed(slot, this.#generation);
    return moment === undefined ? undefined : this.#table.timeOf(moment);
  }

  get asking(): boolean {
    const { segment, slot } = this.#place;
    return this.#doubt || segment.asks(slot, this.#generation);
  }

  follow(schedule: Schedule): void {
    if (this.#ended) return;
    const { segment, slot } = this.#place;
    const before = this.#generation;
    if (schedule.ttl !== this.#ttl) this.#generation = this.#table.next();
    this.#ttl = schedule.ttl;
    segment.follow(slot, this.#generation, this.#table.planOf(schedule));
    // The check comes after `segment.follow`: a worker that has not marked the old generation by now sends no renewal for that generation.
    if (before !== this.#generation) this.#doubt ||= segment.asks(slot, before);
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#table.giveBack(this.#place);
    this.#doubt = this.asking; // from now on the mark in the slot may be of another hold
  }
}
