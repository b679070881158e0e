import type { Disturbance, Event, ProcessEvent, RefereeEvent } from '../events.ts';
import { History } from '../history.ts';
import { type Judgement, judge } from '../judge.ts';
import type { Conditions, Totals, Violation } from '../verdict.ts';

/** How much of the history stays in memory and is judged again: longer than any fault. */
const MEMORY_MS = 30_000;
/** How many violations, and how many kinds of trouble with the engine, are kept. Further violations are only counted. */
const MAX_VIOLATIONS = 50;

/** The record of a run: its events, its totals and the promises that it broke. */
export class RunRecord {
  readonly origin = process.hrtime.bigint();
  readonly history = new History();
  readonly totals: Totals = { wishes: 0, holds: 0, underFaults: 0, longestWait: 0, handOvers: 0, longestHandOver: 0 };
  readonly violations: Violation[] = [];
  /** How many violations of each kind there are. */
  readonly broken: { [kind in Violation['broken']]?: number } = {};
  /** Why the engine could not be asked, and how often for each reason. */
  readonly troubles = new Map<string, number>();
  readonly #known = new Set<string>();
  readonly #conditions: Conditions;
  readonly #onEvent: ((event: Event) => void) | undefined;
  /** Until when the effects of past faults may last. */
  #effects = 0;
  #active = 0;
  #disturbances = 0;

  constructor(conditions: Conditions, onEvent?: (event: Event) => void) {
    this.#conditions = conditions;
    this.#onEvent = onEvent;
  }

  /** ms since the start. */
  now(): number {
    return Number(process.hrtime.bigint() - this.origin) / 1e6;
  }

  add(event: ProcessEvent | RefereeEvent, at: number = this.now()): void {
    const stamped = { at: Math.round(at * 1_000) / 1_000, ...event };
    this.#onEvent?.(stamped);
    this.#count(stamped);
    this.history.apply({ ...event, at });
  }

  /** A disturbance begins. @returns the function that ends it; `effective`: it hit something */
  disturb(kind: Disturbance, by?: number): (effective: boolean) => void {
    const id = this.#disturbances++;
    this.add({ what: 'disturbed', id, kind, ...(by !== undefined && { by }) });
    return (effective) => this.add({ what: 'over', id, effective });
  }

  /** Judges the history in memory, and forgets the old part. */
  judge(): void {
    const judgement = this.#judgeAll();
    const old = this.history.now - MEMORY_MS;
    if (old <= this.history.since) return;
    this.#countHandOvers(judgement, old);
    this.history.forget(old);
  }

  /** Judges the rest at the end. */
  close(): void {
    this.#countHandOvers(this.#judgeAll(), Number.POSITIVE_INFINITY);
  }

  #judgeAll(): Judgement {
    const judgement = judge(this.history, this.#conditions);
    for (const violation of judgement.violations) this.#addViolation(violation);
    return judgement;
  }

  #addViolation(violation: Violation): void {
    const { broken, key, ops, at } = violation;
    // Later judgements find a violation again. It is reported once; missing wake-ups are reported once in a run.
    const id =
      broken === 'wake-ups' ? broken : [broken, key, ...(ops.length > 0 ? ops.toSorted() : [Math.floor(at)])].join();
    if (this.#known.has(id)) return;
    this.#known.add(id);
    this.broken[broken] = (this.broken[broken] ?? 0) + 1;
    if (this.violations.length < MAX_VIOLATIONS) this.violations.push(violation);
  }

  #countHandOvers({ handOvers }: Judgement, until: number): void {
    const { totals, history } = this;
    for (const { at, ms } of handOvers) {
      if (at < history.since || at >= until) continue;
      totals.handOvers++;
      totals.longestHandOver = Math.max(totals.longestHandOver, ms);
    }
  }

  #count(event: (ProcessEvent | RefereeEvent) & { readonly at: number }): void {
    const { totals } = this;
    if (event.what === 'asked') totals.wishes++;
    else if (event.what === 'refused') this.#countTrouble(event.why);
    else if (event.what === 'disturbed' && event.by !== undefined) this.#active++;
    else if (event.what === 'over') {
      if (this.history.disturbances.get(event.id)?.by === undefined) return;
      this.#active--;
      this.#effects = Math.max(this.#effects, event.at + this.#conditions.ttl);
    } else if (event.what === 'entered') {
      totals.holds++;
      const asked = this.history.operations.get(event.op)?.asked ?? event.at;
      totals.longestWait = Math.max(totals.longestWait, event.at - asked);
      if (this.#active > 0 || event.at < this.#effects) totals.underFaults++;
    }
  }

  #countTrouble(why: string | undefined): void {
    if (why === undefined || (!this.troubles.has(why) && this.troubles.size >= MAX_VIOLATIONS)) return;
    this.troubles.set(why, (this.troubles.get(why) ?? 0) + 1);
  }
}
