import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Lane } from './lane.ts';
import type { Report, Together, Told } from './messages.ts';
import type { Mutant } from './mutant.ts';
import type { Result } from './results.ts';
import { ENGINES, root, scriptMutants } from './sources.ts';
import { Worker } from './workers.ts';

/** ms; what takes longer shows nothing that nobody else shows. */
const TOO_LONG = 15_000;
/** ms for all tests, with the start of a server. */
const WITHIN = 240_000;
/** Each may end with tests that are in doubt. */
const ATTEMPTS = 4;
/** ms; who takes longer waits for leases to expire. */
const QUICK = 400;
/** Mutants that a process judges: it keeps what it loaded for each. */
const MOST = 60;

/** A process that stays, and how many mutants it has judged. */
interface Slot {
  readonly worker: Worker;
  judged: number;
}

/** The scripts of an engine, and the tests that run them, in processes and on servers that stay. */
export class ScriptsLane implements Lane {
  readonly name: string;
  readonly mutants: readonly Mutant[];
  readonly #numbers: ReadonlyMap<Mutant, number>;
  readonly #slots: Slot[] = [];
  #tests: readonly string[] = [];
  #told: readonly Told[] = [];
  #fit: readonly Told[] = [];

  constructor(name: string) {
    this.name = name;
    this.mutants = scriptMutants(name);
    this.#numbers = new Map(this.mutants.map((mutant, number) => [mutant, number]));
  }

  #worker(): Worker {
    const { tests, parts } = ENGINES[this.name]!;
    return new Worker(
      { MUTATED: 'none', MUTATED_BY: tests, BACKENDS: parts ?? '', ENGINE: this.name },
      'scripts-worker.ts',
    );
  }

  /** Which tests pass without a mutant, and how long they take. */
  async prepare(slots: number): Promise<string[]> {
    for (let slot = 0; slot < slots; slot++) this.#slots.push({ worker: this.#worker(), judged: 0 });
    const { worker } = this.#slots[0]!;
    const first = await worker.start();
    if (!first) throw new Error('the tests cannot be loaded: LOUD=1 npm run prove -- mutants says why');
    const { tests } = first;
    this.#tests = tests;
    const { failed, took } = await this.#without(worker);
    const unfit = new Set(failed.map(({ test }) => test));
    this.#told = tests.map((_, test) => ({ test, ms: took[test]!, cpu: 0 }));
    this.#fit = this.#told.filter(({ test, ms }) => !unfit.has(test) && ms < TOO_LONG).toSorted((a, b) => a.ms - b.ms);
    return tests.filter((_, test) => !this.#fit.some((each) => each.test === test));
  }

  /** What comes of all tests without a mutant, as long as their files are the same. */
  async #without(worker: Worker): Promise<Together> {
    const path = `${root}.mutation/${this.name}.json`;
    const files = new Set(this.#tests.map((test) => test.slice(0, test.indexOf(': '))));
    const texts = [...files].map((file) => readFileSync(`${root}${file}`, 'utf8'));
    const of = createHash('sha1')
      .update([...this.#tests, ...texts].join('\n'))
      .digest('hex');
    const before = existsSync(path)
      ? (JSON.parse(readFileSync(path, 'utf8')) as { of: string; run: Together })
      : undefined;
    if (before?.of === of) return before.run;
    const all = this.#tests.map((_, test) => ({ test, ms: 6_000, cpu: 0 }));
    const run = await worker.ask<Together & Report>({ together: all, all: true, script: undefined }, 3 * WITHIN);
    if (!run) throw new Error(`the tests of ${this.name} do not end`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify({ of, run }));
    return run;
  }

  /** How many mutants of a script, or of all, each test has killed. */
  readonly #kills = new Map<string, number>();
  #note(file: string, test: number): void {
    for (const key of [`${file} ${test}`, `${test}`]) this.#kills.set(key, (this.#kills.get(key) ?? 0) + 1);
  }

  /**
   * Those that have anything to do with the script: first the quick ones, whose word is worth most on a busy machine; of these
   * first who killed most of it, then who killed most, then the quickest.
   */
  #inOrder(file: string): readonly Told[] {
    const kills = (key: string): number => this.#kills.get(key) ?? 0;
    const weight = ({ test, ms }: Told): number =>
      (ms < QUICK ? 1e6 : 0) + 1_000 * kills(`${file} ${test}`) + kills(`${test}`);
    return this.#concerning(file).toSorted((a, b) => weight(b) - weight(a));
  }

  #concerning(file: string): readonly Told[] {
    const { about = [] } = ENGINES[this.name]!;
    const only = about.find(({ scripts }) => scripts.test(file))?.tests;
    return this.#fit.filter(({ test }) => !only || only.test(this.#tests[test]!));
  }

  async #run(slot: Slot, tests: readonly Told[], script: number | undefined): Promise<Together | undefined> {
    const run = await slot.worker.ask<Together & Report>({ together: tests, all: false, script }, WITHIN);
    slot.judged++;
    // Whatever still goes on in there, it is not to be mistaken for the next one.
    if (slot.judged >= MOST || run?.failed.some(({ how }) => how !== 'failed')) {
      await slot.worker.end();
      slot.judged = 0;
    }
    return run;
  }

  /** Tests that failed without a mutant, or passed with the one that they had failed with: they are believed only by themselves. */
  readonly #doubted = new Set<number>();
  /** Whether the test fails of the mutant: by itself once more with it, and not without. */
  async #failsOf(slot: Slot, told: Told, script: number): Promise<boolean> {
    const again = await this.#run(slot, [told], script);
    if (!again || again.failed.length === 0) return false;
    return (await this.#run(slot, [told], undefined))?.failed.length === 0;
  }

  async judge(mutant: Mutant, number: number): Promise<Result | undefined> {
    const slot = this.#slots[number]!;
    const script = this.#numbers.get(mutant)!;
    for (let attempts = 0; attempts < ATTEMPTS; attempts++) {
      const tests = this.#inOrder(mutant.file);
      const doubted = tests.filter(({ test }) => this.#doubted.has(test));
      const run = await this.#run(
        slot,
        tests.filter((told) => !doubted.includes(told)),
        script,
      );
      if (!run) continue;
      for (const { test, how } of run.failed) {
        if (await this.#failsOf(slot, this.#told[test]!, script)) return this.#killed(mutant, test, how);
        this.#doubted.add(test);
      }
      if (run.failed.length > 0) continue;
      // It has not survived a test that was not asked.
      for (const told of doubted)
        if (await this.#failsOf(slot, told, script)) return this.#killed(mutant, told.test, 'failed');
      return { id: mutant.id, verdict: 'survived' };
    }
    return undefined;
  }

  #killed({ id, file }: Mutant, test: number, how: Result['how']): Result {
    this.#note(file, test);
    return { id, verdict: 'killed', by: this.#tests[test]!.replace('test/', ''), ...(how && { how }) };
  }

  async end(): Promise<void> {
    for (const test of this.#doubted) console.log(`in doubt: ${this.#tests[test]}`);
    await Promise.all(this.#slots.map(({ worker }) => worker.end()));
  }
}
