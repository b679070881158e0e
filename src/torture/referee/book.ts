import type { Seen, Told } from '../history.ts';
import { type Judgement, judge } from '../judge.ts';
import { Ledger } from '../ledger.ts';
import type { Conditions, Violation } from '../violation.ts';
import type { Recorder } from './crew.ts';

/** How much history is judged again and again, ms: longer than any fault. */
const MEMORY = 30_000;
/** How many violations are kept; the rest are only counted. Also how many kinds of trouble with the engine. */
const KEPT = 50;

export interface Totals {
  wishes: number;
  holds: number;
  /** Holds during a fault, or while its effects could last. */
  underFaults: number;
  /** From the wish to the hold, ms. */
  longestWait: number;
  handOvers: number;
  /** From free to held, without a fault, ms. */
  longestHandOver: number;
}

/** The events so far, and the judgement of them. */
export class Book implements Recorder {
  readonly origin = process.hrtime.bigint();
  readonly ledger = new Ledger();
  readonly totals: Totals = { wishes: 0, holds: 0, underFaults: 0, longestWait: 0, handOvers: 0, longestHandOver: 0 };
  readonly violations: Violation[] = [];
  /** How many violations of each kind there are. */
  readonly broken: { [kind in Violation['broken']]?: number } = {};
  /** Why the engine could not be asked, and how often. */
  readonly troubles = new Map<string, number>();
  readonly #known = new Set<string>();
  readonly #conditions: Conditions;
  readonly #write: (line: string) => void;
  /** Until when the effects of past faults may last. */
  #effects = 0;
  #active = 0;

  /** @param write takes each event as a line of JSON */
  constructor(conditions: Conditions, write: (line: string) => void) {
    this.#conditions = conditions;
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

  /** Judges the history in memory, and forgets the old part. */
  judge(): void {
    const judgement = this.#judged();
    const old = this.ledger.now - MEMORY;
    if (old <= this.ledger.since) return;
    this.#countHandOvers(judgement, old);
    this.ledger.forget(old);
  }

  /** Judges the rest at the end. */
  close(): void {
    this.#countHandOvers(this.#judged(), Number.POSITIVE_INFINITY);
  }

  #judged(): Judgement {
    const judgement = judge(this.ledger, this.#conditions);
    for (const violation of judgement.violations) this.#keep(violation);
    return judgement;
  }

  #keep(violation: Violation): void {
    const { broken, key, ops, at } = violation;
    // Of a violation that lasts, the first report stays. Missing wake-ups are reported once.
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
    else if (event.what === 'refused') this.#countTrouble(event.why);
    else if (event.what === 'disturbed' && event.by !== undefined) this.#active++;
    else if (event.what === 'over') {
      if (this.ledger.disturbances.get(event.id)?.by === undefined) return;
      this.#active--;
      this.#effects = Math.max(this.#effects, event.at + this.#conditions.ttl);
    } else if (event.what === 'entered') {
      totals.holds++;
      const asked = this.ledger.wishes.get(event.op)?.asked ?? event.at;
      totals.longestWait = Math.max(totals.longestWait, event.at - asked);
      if (this.#active > 0 || event.at < this.#effects) totals.underFaults++;
    }
  }

  #countTrouble(why: string | undefined): void {
    if (why === undefined || (!this.troubles.has(why) && this.troubles.size >= KEPT)) return;
    this.troubles.set(why, (this.troubles.get(why) ?? 0) + 1);
  }
}
