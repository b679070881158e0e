import type { Seen, Told } from '../history.ts';
import { type Judgement, judge } from '../judge.ts';
import { Ledger } from '../ledger.ts';
import type { Terms, Violation } from '../violation.ts';
import type { Recorder } from './crew.ts';

/** ms of history that is judged again and again: longer than anything that is done to a process. */
const MEMORY = 30_000;
/** Violations that are kept; the rest are counted. */
const KEPT = 50;

export interface Totals {
  wishes: number;
  holds: number;
  /** Of these, while something was done to somebody, or its effect may have lasted. */
  underFaults: number;
  /** ms from the wish to the hold. */
  longestWait: number;
  handOvers: number;
  /** ms from free to held, where nothing was wrong. */
  longestHandOver: number;
}

/** What happened so far, and what the judge says of it. */
export class Book implements Recorder {
  readonly origin = process.hrtime.bigint();
  readonly ledger = new Ledger();
  readonly totals: Totals = { wishes: 0, holds: 0, underFaults: 0, longestWait: 0, handOvers: 0, longestHandOver: 0 };
  readonly violations: Violation[] = [];
  /** How many of a kind there are. */
  readonly broken: { [kind in Violation['broken']]?: number } = {};
  readonly #known = new Set<string>();
  readonly #terms: Terms;
  readonly #write: (line: string) => void;
  /** Until when the effects of what was done so far may last. */
  #effects = 0;
  #active = 0;

  /** @param write takes each event as a line of JSON */
  constructor(terms: Terms, write: (line: string) => void) {
    this.#terms = terms;
    this.#write = write;
  }

  /** ms since the start. */
  now(): number {
    return Number(process.hrtime.bigint() - this.origin) / 1e6;
  }

  add(event: Told | Seen, at: number = this.now()): void {
    const stamped = { at: Math.round(at * 1_000) / 1_000, ...event };
    this.#write(JSON.stringify(stamped));
    this.#count(stamped);
    this.ledger.apply({ ...event, at });
  }

  /** Judges what is in memory, and forgets what is old. */
  judge(): void {
    const judgement = judge(this.ledger, this.#terms);
    for (const violation of judgement.violations) this.#keep(violation);
    const old = this.ledger.now - MEMORY;
    if (old <= this.ledger.since) return;
    this.#countHandOvers(judgement, old);
    this.ledger.forget(old);
  }

  /** Judges the rest, when nothing more comes. */
  close(): void {
    const judgement = judge(this.ledger, this.#terms);
    for (const violation of judgement.violations) this.#keep(violation);
    this.#countHandOvers(judgement, Number.POSITIVE_INFINITY);
  }

  #keep(violation: Violation): void {
    const { broken, key, ops, at } = violation;
    // Of one that goes on, the beginning stays; that nobody is woken is said once.
    const id =
      broken === 'wake-ups' ? broken : [broken, key, ...(ops.length > 0 ? ops.toSorted() : [Math.floor(at)])].join();
    if (this.#known.has(id)) return;
    this.#known.add(id);
    this.broken[broken] = (this.broken[broken] ?? 0) + 1;
    if (this.violations.length < KEPT) this.violations.push(violation);
  }

  #countHandOvers({ handOvers }: Judgement, until: number): void {
    const { totals, ledger } = this;
    for (const { at, ms } of handOvers) {
      if (at < ledger.since || at >= until) continue;
      totals.handOvers++;
      totals.longestHandOver = Math.max(totals.longestHandOver, ms);
    }
  }

  #count(event: (Told | Seen) & { readonly at: number }): void {
    const { totals } = this;
    if (event.what === 'asked') totals.wishes++;
    else if (event.what === 'disturbed' && event.by !== undefined) this.#active++;
    else if (event.what === 'over') {
      if (this.ledger.disturbances.get(event.id)?.by === undefined) return;
      this.#active--;
      this.#effects = Math.max(this.#effects, event.at + this.#terms.ttl);
    } else if (event.what === 'entered') {
      totals.holds++;
      const asked = this.ledger.wishes.get(event.op)?.asked ?? event.at;
      totals.longestWait = Math.max(totals.longestWait, event.at - asked);
      if (this.#active > 0 || event.at < this.#effects) totals.underFaults++;
    }
  }
}
