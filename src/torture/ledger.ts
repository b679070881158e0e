import type { Seats } from '../core/contract/admission.ts';
import { mostOf } from '../core/contract/extremes.ts';
import type { Disturbance, Event } from './history.ts';

/** One wish and its outcome. Times are ms since the start. */
export interface Wish extends Seats {
  readonly op: string;
  readonly by: number;
  readonly key: string;
  readonly asked: number;
  hold?: RecordedHold;
  /** When the wish was over, with a hold or without. */
  ended?: number;
}

export interface RecordedHold {
  readonly token?: bigint;
  /** The process looked between these two times, and held. */
  readonly before: number;
  readonly from: number;
  /** The last look that found it held. */
  seen: number;
  /** Its last known deadline. */
  promised: number;
  /** Until when it surely believed to hold: no other hold may overlap that. It grows until the hold is over. */
  until: number;
  over: boolean;
  /** When its release had an answer. */
  freed?: number;
  claimed?: number;
  readonly writes: { readonly at: number; readonly accepted: boolean }[];
}

export interface Held extends Wish {
  hold: RecordedHold;
}

/** A time in which a process stood still and learnt nothing. */
interface Stop {
  readonly by: number;
  readonly from: number;
  to: number;
}

/** A time with a fault. */
export interface Spell {
  readonly kind: Disturbance;
  /** Whose process or connections. */
  readonly by: number | undefined;
  readonly at: number;
  /** Infinity while the fault lasts. */
  until: number;
  effective: boolean;
}

/** Builds wishes and holds from the events, one by one. */
export class Ledger {
  readonly wishes = new Map<string, Wish>();
  readonly disturbances = new Map<number, Spell>();
  readonly crashes: { readonly at: number; readonly by: number; readonly how: string }[] = [];
  readonly remains: { readonly key: string; readonly label: string }[] = [];
  /** The wishes of each process that are not over. */
  readonly #open = new Map<number, Set<Wish>>();
  #stops: Stop[] = [];
  /** The time of the last event. */
  now = 0;
  /** What was over before this time is forgotten. */
  since = 0;

  apply(event: Event): void {
    this.now = Math.max(this.now, event.at);
    switch (event.what) {
      case 'asked': {
        const { op, by, key, take, of, at } = event;
        const wish: Wish = { op, by, key, take, of, asked: at };
        this.wishes.set(op, wish);
        this.#open.set(by, (this.#open.get(by) ?? new Set()).add(wish));
        return;
      }
      case 'disturbed': {
        const { id, kind, by, at } = event;
        this.disturbances.set(id, { kind, by, at, until: Number.POSITIVE_INFINITY, effective: false });
        return;
      }
      case 'over': {
        const spell = this.disturbances.get(event.id);
        if (spell) Object.assign(spell, { until: event.at, effective: event.effective });
        return;
      }
      case 'crashed':
        this.crashes.push(event);
        this.#died(event.by, event.at);
        return;
      case 'killed':
        this.#died(event.by, event.at);
        return;
      case 'stopped':
        this.#stops.push({ by: event.by, from: event.at, to: Number.POSITIVE_INFINITY });
        return;
      case 'continued':
        for (const stop of this.#stops) if (stop.by === event.by) stop.to = Math.min(stop.to, event.at);
        return;
      case 'remains':
        this.remains.push(event);
        return;
      default:
        this.#ofWish(event);
    }
  }

  /** The wishes of a process that are not over. */
  open(by: number): Wish[] {
    const open = this.#open.get(by) ?? new Set();
    for (const wish of open) if (wish.ended !== undefined) open.delete(wish);
    return [...open];
  }

  /** Forgets what was over before `time`. It keeps the highest token of each key, for comparison with later ones. */
  forget(time: number): void {
    const highest = new Map<string, Wish>();
    const token = (wish: Wish | undefined): bigint => wish?.hold?.token ?? -1n;
    for (const wish of this.wishes.values())
      if (token(wish) > token(highest.get(wish.key))) highest.set(wish.key, wish);
    for (const wish of this.wishes.values()) {
      const over =
        wish.ended !== undefined && Math.max(wish.ended, wish.hold?.until ?? 0, wish.hold?.freed ?? 0) < time;
      if (over && highest.get(wish.key) !== wish) this.wishes.delete(wish.op);
    }
    for (const by of this.#open.keys()) this.open(by);
    this.#stops = this.#stops.filter(({ to }) => to >= time);
    this.since = time;
  }

  #ofWish(event: Event & { readonly op: string }): void {
    const wish = this.wishes.get(event.op);
    if (!wish) return; // the news came after its process was declared dead
    const { hold } = wish;
    const { at } = event;
    switch (event.what) {
      case 'entered': {
        if (wish.ended !== undefined) return;
        const { before, remaining, token } = event;
        const promised = remaining === null ? before : before + remaining;
        wish.hold = {
          ...{ before, from: at, seen: before, promised, until: before, over: false, writes: [] },
          ...(token !== undefined && { token: BigInt(token) }),
        };
        return;
      }
      case 'refused':
        wish.ended ??= at;
        return;
    }
    if (!hold) return;
    switch (event.what) {
      case 'held':
        hold.seen = Math.max(hold.seen, at);
        hold.promised = Math.max(hold.promised, event.remaining === null ? at : at + event.remaining);
        if (!hold.over) hold.until = hold.seen;
        return;
      case 'left':
        hold.seen = at;
        end(wish, hold, at, at);
        return;
      case 'lost':
        end(wish, hold, Math.min(hold.promised, this.#stillUntil(wish.by, hold.seen, at)), at);
        return;
      case 'freed':
        hold.freed = at;
        return;
      case 'claimed':
        hold.claimed = at;
        return;
      case 'wrote':
        hold.writes.push({ at, accepted: event.accepted });
    }
  }

  /** It believed its last information until its own deadline or its end. */
  #died(by: number, at: number): void {
    for (const wish of this.open(by)) {
      if (wish.hold) end(wish, wish.hold, Math.max(wish.hold.seen, Math.min(wish.hold.promised, at)), at);
      else wish.ended = at;
    }
  }

  /**
   * A stop began after a look that found it held, and ended before a look that did not. Until the end of the stop it believed
   * to hold.
   */
  #stillUntil(by: number, seen: number, lost: number): number {
    const stops = this.#stops.filter((stop) => stop.by === by && stop.from >= seen && stop.to <= lost);
    // What it learnt between the look and the stop, it told before the stop.
    return mostOf(
      stops.map(({ to }) => to),
      seen,
    );
  }
}

function end(wish: Wish, hold: RecordedHold, until: number, at: number): void {
  if (hold.over) return;
  hold.until = until;
  hold.over = true;
  wish.ended = at;
}

export function byKey<W extends Wish>(wishes: Iterable<W>): Map<string, W[]> {
  const keys = new Map<string, W[]>();
  for (const wish of wishes) {
    keys.get(wish.key)?.push(wish) ?? keys.set(wish.key, [wish]);
  }
  return keys;
}
