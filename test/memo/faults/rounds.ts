import type { Backend } from '../../../src/core/contract/backend.ts';
import { all } from '../../simulation/events.ts';
import { playRound, type Round } from './round.ts';
import { succession, waits, wrongIn } from './verdict.ts';

export interface Plan {
  readonly rounds: number;
  /** The time after which no round begins, ms. Default: none. */
  readonly time?: number;
  /** So many are played at a time. */
  readonly lanes: number;
  /** That of the first round; the next one has the next. */
  readonly seed: number;
  /** The lease, where the engine allows it, ms. */
  readonly ttl?: number;
  /** Called after each round. */
  readonly progress?: (tally: Tally) => void;
}

const SHOWN = 10;

/** What came of all rounds. */
export class Tally {
  rounds = 0;
  wrong = 0;
  readonly found: string[] = [];
  /** The checkers that found something in any round. */
  readonly foundBy = new Set<string>();
  readonly #struck = new Map<string, number>();
  readonly #outcomes = new Map<string, number>();
  readonly #waits: number[] = [];
  readonly #successions: number[] = [];
  #lag = 0;

  add(round: Round): void {
    const { fault, victim, history, seed, lag } = round;
    this.rounds++;
    if (victim.struck !== undefined) count(this.#struck, `${fault.kind} at ${fault.step}`);
    for (const { ran, kept } of all(history, 'had')) if (ran) count(this.#outcomes, `kept: ${kept}`);
    for (const { kind } of all(history, 'fault')) count(this.#outcomes, kind);
    count(this.#outcomes, 'runs', all(history, 'begun').length);
    this.#lag = Math.max(this.#lag, lag);
    this.#waits.push(...waits(round));
    const next = succession(round);
    if (next !== undefined) this.#successions.push(next);
    const wrong = wrongIn(round);
    if (wrong.length === 0) return;
    this.wrong++;
    for (const line of wrong) this.foundBy.add(line.split(':', 1)[0]!);
    if (this.found.length < SHOWN)
      this.found.push(`seed ${seed}, ${JSON.stringify(fault)}, lag ${lag.toFixed(0)} ms: ${wrong.join('; ')}`);
  }

  /** The faults that hit a process, by kind. */
  get struck(): Record<string, number> {
    const byKind = new Map<string, number>();
    for (const [what, times] of this.#struck) count(byKind, what.split(' at ')[0]!, times);
    return Object.fromEntries(byKind);
  }

  get text(): string[] {
    const faults = [...this.#struck.values()].reduce((sum, times) => sum + times, 0);
    return [
      `${faults} faults: ${listed(this.#struck)}`,
      listed(this.#outcomes),
      `from the release until a waiter has the result: ${spread(this.#waits)}`,
      `from a death until the next one runs: ${spread(this.#successions)}`,
      `this machine let somebody run who was due as late as ${this.#lag.toFixed(0)} ms`,
      ...this.found,
    ];
  }
}

const count = (counts: Map<string, number>, what: string, times = 1): void =>
  void counts.set(what, (counts.get(what) ?? 0) + times);

const listed = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([what, times]) => `${what} ${times}`)
    .join(', ');

function spread(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (part: number): string => `${(sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1)} ms`;
  return `half ${at(0.5)}, 99 of 100 ${at(0.99)}, all ${at(1)}, of ${sorted.length}`;
}

/** @returns gives the seed of the next round; undefined if there is none */
export function seedsOf({ rounds, time = Number.POSITIVE_INFINITY, seed }: Plan): () => number | undefined {
  const began = performance.now();
  let next = 0;
  return () => (next < rounds && performance.now() - began < time ? seed + next++ : undefined);
}

/** Plays rounds on an engine, each on a key of its own. */
export async function playRounds(engine: Backend, plan: Plan): Promise<Tally> {
  const { lanes, ttl = 600, progress } = plan;
  const lease = Math.max(ttl, engine.traits.ttl.min);
  const tally = new Tally();
  const seeds = seedsOf(plan);
  const lane = async (): Promise<void> => {
    for (let own = seeds(); own !== undefined; own = seeds()) {
      tally.add(await playRound(engine, `memo-faults:${own}`, own, lease));
      progress?.(tally);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return tally;
}
