import {
  type Backend,
  type Claim,
  EXCLUSIVE,
  inMs,
  leastOf,
  promiseOf,
  type Renewal,
  systemClock,
  withLimit,
} from '../../core/index.ts';
import { type Control, type CoveredHold, type Moment, type Segment, type SharedClock, SLOTS } from './table.ts';

/** The main thread renews a hold each interval. The worker renews a hold that was not renewed for this many intervals. */
const LATE_INTERVALS = 1.25;
/** The worker renews after this part of `LATE_INTERVALS`, so that holds which are due at different times share a request. */
const EARLY_FACTOR = 0.9;
/** How many looks the worker takes in the shortest interval, and the bounds of the pause between two looks, ms. */
const LOOKS_PER_INTERVAL = 5;
const LOOK_PAUSE_MS = { max: 500, min: 4 };
/** How many holds one request renews at most, and its longest time, ms. */
const MAX_BATCH = 500;
const MAX_REQUEST_MS = 5_000;

interface Due {
  readonly segment: Segment;
  readonly slot: number;
  readonly interval: number;
  readonly claim: Claim;
  readonly entry: SlotState;
}

/** What the worker knows of a slot, while the slot has this generation. */
interface SlotState {
  readonly generation: number;
  /** The moment before which the hold is not renewed again. */
  notBefore: Moment;
  state: 'asking' | 'renewed' | 'unknown' | 'gone';
  /** Whether the outcome of some renewal is unknown, so that the renewal may still arrive. */
  doubt: boolean;
}

/** Renews the holds in shared memory that the main thread is late to renew, if the beat counter of the main thread has moved within `stall`. */
export class Rounds {
  readonly #backend: Pick<Backend, 'renew'>;
  readonly #control: Control;
  readonly #shared: SharedClock;
  readonly #stall: number;
  readonly #segments: { readonly segment: Segment; readonly known: (SlotState | undefined)[] }[] = [];
  #beats: number;
  #movedAt: Moment;

  /** @param stall how long the counter may stand still, one beat included, ms */
  constructor(backend: Pick<Backend, 'renew'>, control: Control, shared: SharedClock, stall: number) {
    this.#backend = backend;
    this.#control = control;
    this.#shared = shared;
    this.#stall = stall;
    this.#beats = control.beats;
    this.#movedAt = shared();
  }

  add(segment: Segment): void {
    this.#segments.push({ segment, known: [] });
  }

  /** Looks at all holds once. @returns ms until the next look is due */
  look(): number {
    const now = this.#shared();
    const { beats } = this.#control;
    if (beats !== this.#beats) [this.#beats, this.#movedAt] = [beats, now];
    const hangs = now - this.#movedAt > this.#stall;
    const { due, shortest } = this.#due(now, hangs);
    for (const batch of inBatches(due)) void this.#renew(batch);
    // `patience` grows slowly: if short intervals come and go, the main thread need not wake the worker for each of them.
    const patience = Math.max(1, Math.min(shortest, 2 * (this.#control.patience || shortest)));
    this.#control.patience = patience;
    return Math.min(LOOK_PAUSE_MS.max, Math.max(LOOK_PAUSE_MS.min, patience / LOOKS_PER_INTERVAL));
  }

  #due(now: Moment, hangs: boolean): { due: Due[]; shortest: number } {
    const due: Due[] = [];
    let shortest = LOOK_PAUSE_MS.max * LOOKS_PER_INTERVAL;
    for (const { segment, known } of this.#segments) {
      for (let slot = 0; slot < SLOTS; slot++) {
        const generation = segment.generation(slot);
        if (generation === 0) continue;
        const { sent, interval, until } = segment.plan(slot);
        shortest = Math.min(shortest, interval);
        const last = known[slot]?.generation === generation ? known[slot] : undefined;
        if (last && (last.state === 'gone' || last.state === 'asking' || now < last.notBefore)) continue;
        if (hangs || now >= until || now - sent < interval * LATE_INTERVALS * EARLY_FACTOR) continue;
        const doubt = last?.doubt ?? segment.asks(slot, generation); // a mark that is there already is of a thread that died
        const covered = segment.ask(slot, generation);
        if (!covered) continue;
        const entry: SlotState = { generation, notBefore: now, state: 'asking', doubt };
        known[slot] = entry;
        due.push({ segment, slot, interval, claim: claimOf(covered), entry });
      }
    }
    return { due, shortest };
  }

  async #renew(batch: readonly Due[]): Promise<void> {
    const sent = this.#shared();
    const within = Math.min(MAX_REQUEST_MS, leastOf(batch.map(({ claim }) => claim.ttl)) / 3);
    const late = (): Error => new Error(`no answer within ${inMs(within)}`);
    const renewing = promiseOf(() => this.#backend.renew(batch.map(({ claim }) => claim)));
    const answers = await withLimit(renewing, within, late, systemClock).catch((): Renewal[] => []);
    for (const [i, due] of batch.entries()) this.#receive(due, sent, answers[i]);
  }

  #receive({ segment, slot, interval, claim, entry }: Due, sent: Moment, answer: Renewal | undefined): void {
    if (typeof answer === 'object') {
      // The main thread adds the whole lease to this moment. If the engine gave a shorter time, the moment must be earlier by the difference.
      const earlier = Math.max(0, claim.ttl - answer.validFor);
      segment.confirm(slot, entry.generation, sent - Math.ceil(earlier));
      entry.state = 'renewed';
      entry.notBefore = sent + interval;
    } else if (answer === 'gone') entry.state = 'gone';
    else {
      entry.state = 'unknown';
      entry.doubt = true;
      entry.notBefore = this.#shared() + claim.ttl / 24;
    }
    if (!entry.doubt) segment.settle(slot, entry.generation);
  }
}

const claimOf = ({ key, id, ttl }: CoveredHold): Claim => ({
  ...{ key, id, ttl, ...EXCLUSIVE },
  ...{ queue: false, tokenCount: 1, within: Math.min(MAX_REQUEST_MS, ttl / 3), label: '' },
});

/** Splits holds into batches. In a batch the leases, and so the time limits, differ by less than a factor of two. */
function* inBatches(due: readonly Due[]): Generator<Due[]> {
  for (const group of Map.groupBy(due, ({ claim }) => Math.floor(Math.log2(claim.ttl))).values())
    for (let from = 0; from < group.length; from += MAX_BATCH) yield group.slice(from, from + MAX_BATCH);
}
