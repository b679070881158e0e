import type { Lane } from './lane.ts';
import type { Report, Told } from './messages.ts';
import type { Mutant } from './mutant.ts';
import type { Result } from './results.ts';
import { ENGINES, scriptMutants } from './sources.ts';
import { Worker } from './workers.ts';

type Run = Extract<Report, { took: unknown }>;

/** ms; what takes longer shows nothing that nobody else shows. */
const TOO_LONG = 6_000;
/** ms for all tests, with the start of a server. */
const WITHIN = 120_000;

/** The scripts of an engine, and the tests that run them: each mutant in a process and on a server of its own. */
export class ScriptsLane implements Lane {
  readonly name: string;
  readonly mutants: readonly Mutant[];
  #tests: readonly string[] = [];
  #told: readonly Told[] = [];

  constructor(name: string) {
    this.name = name;
    this.mutants = scriptMutants(name);
  }

  #worker(more: NodeJS.ProcessEnv = {}): Worker {
    const { tests } = ENGINES[this.name]!;
    return new Worker({ MUTATED: 'none', MUTATED_BY: tests, BACKENDS: '', ...more });
  }

  /** Which tests pass without a mutant, and how long they take. */
  async prepare(): Promise<string[]> {
    await using worker = this.#worker();
    const { tests } = (await worker.start()) ?? { tests: [] };
    const all = tests.map((_, test) => ({ test, ms: TOO_LONG, cpu: 0 }));
    const run = await worker.ask<Run>({ together: all, all: true }, 4 * WITHIN);
    if (!run) throw new Error(`the tests of ${this.name} do not end`);
    this.#tests = tests;
    const failed = new Set(run.failed.map(({ test }) => test));
    this.#told = all
      .filter(({ test }) => !failed.has(test) && run.took[test]! < TOO_LONG)
      .map(({ test }) => ({ test, ms: run.took[test]!, cpu: 0 }))
      .toSorted((a, b) => a.ms - b.ms);
    return all.filter(({ test }) => !this.#told.some((each) => each.test === test)).map(({ test }) => tests[test]!);
  }

  /** What kills one of a script goes first for the next of it. */
  readonly #killers: number[] = [];

  async judge(mutant: Mutant): Promise<Result> {
    const number = this.mutants.indexOf(mutant);
    const first = this.#killers.slice(0, 4);
    const told = [
      ...this.#told.filter(({ test }) => first.includes(test)),
      ...this.#told.filter(({ test }) => !first.includes(test)),
    ];
    const run = async (tests: readonly Told[]): Promise<Run | undefined> => {
      await using worker = this.#worker({ SCRIPT: `${this.name} ${number}` });
      return await worker.ask<Run>({ together: tests, all: false }, WITHIN);
    };
    const once = await run(told);
    if (!once) return { id: mutant.id, verdict: 'killed', by: 'whoever runs it', how: 'time' };
    const [found] = once.failed;
    if (!found) return { id: mutant.id, verdict: 'survived' };
    // Alone, so that a machine that is busy is not taken for a test that fails.
    const again = await run(told.filter(({ test }) => once.failed.some((each) => each.test === test)));
    const sure = again ? again.failed[0] : found;
    if (!sure) return { id: mutant.id, verdict: 'survived' };
    if (!first.includes(sure.test)) this.#killers.unshift(sure.test);
    return { id: mutant.id, verdict: 'killed', by: this.#tests[sure.test]!.replace('test/', ''), how: sure.how };
  }

  /** Each of its processes has ended with its mutant. */
  async end(): Promise<void> {}
}
