import type { Lane } from './lane.ts';
import type { Told, Verdict } from './messages.ts';
import type { Mutant } from './mutant.ts';
import { type Reach, reachOf } from './reach.ts';
import type { Result } from './results.ts';
import { allMutants, root } from './sources.ts';
import { Worker } from './workers.ts';

/** ms of a test that is no use here: there is always a quicker one for the same. */
const TOO_LONG = 1_500;
/** ms of all tests for one mutant at first, and a tenth of what it may be the second time. */
const PATIENCE = 1_000;
/** Tests that may be in doubt before nothing is said of a mutant. */
const DOUBTS = 4;
/** ms in which a process has to answer, whatever it is asked. */
const WITHIN = 120_000;

/** Of the time of a processor; of waiting, as much as a tenth. */
const cost = ({ ms, cpu }: Pick<Told, 'ms' | 'cpu'>): number => Math.max(cpu, ms / 10);

/** No mutant. */
const NONE = -1;

/** The TypeScript: all mutants are in the modules of a process that stays, and one is told to do its work. */
export class SourcesLane implements Lane {
  readonly name = 'sources';
  readonly mutants: readonly Mutant[];
  readonly #numbers: ReadonlyMap<Mutant, number>;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #patient: boolean;
  #workers: readonly Worker[] = [];
  #fit: readonly Told[] = [];
  #files: readonly string[] = [];
  #reached: readonly ReadonlySet<number>[] = [];
  #atLoad: ReadonlySet<number> = new Set();
  /** By the tests in their order, what is known of them. */
  readonly #soundIn = new Map<string, Promise<readonly Told[]>>();

  /** @param patient asks more of the tests that come by @param other sources, and the tests of these */
  constructor(patient: boolean, other?: { readonly sources: string; readonly tests: string }) {
    this.#patient = patient;
    this.#environment = other ? { MUTATED: other.sources, MUTATED_BY: other.tests } : {};
    this.mutants = allMutants(other?.sources);
    this.#numbers = new Map(this.mutants.map((mutant, number) => [mutant, number]));
  }

  async prepare(slots: number): Promise<readonly string[]> {
    this.#workers = Array.from({ length: slots }, () => new Worker(this.#environment));
    const [first] = await Promise.all(this.#workers.map((worker) => worker.start()));
    if (!first) throw new Error('the tests cannot be loaded: LOUD=1 npm run prove -- mutants says why');
    const reaches = await reachOf(
      first.tests,
      this.mutants,
      this.#workers,
      `${root}.mutation/${this.#environment.MUTATED ? 'other' : 'reach'}.json`,
    );
    this.#files = first.tests.map((test) => test.slice(0, test.indexOf(': ')));
    this.#reached = reaches.map(({ reached }) => new Set(reached));
    this.#atLoad = new Set(first.atLoad);
    const isFit = (each: Reach): boolean => !each.failed && cost(each) <= TOO_LONG;
    this.#fit = reaches.flatMap((each, test) => (isFit(each) ? [{ test, ms: each.ms, cpu: each.cpu }] : []));
    const unfit = reaches.flatMap((each, test) =>
      isFit(each) ? [] : [`${first.tests[test]} (${each.failed ?? `${Math.round(cost(each))} ms`})`],
    );
    return [...first.unloadable.map((file) => `${file} (it cannot be loaded here)`), ...unfit];
  }

  #quickest(fits: (test: number) => boolean): readonly Told[] {
    // Who comes by little else has most to say about it.
    const weight = (each: Told): number => cost(each) * this.#reached[each.test]!.size;
    const sorted = this.#fit.filter(({ test }) => fits(test)).toSorted((a, b) => weight(a) - weight(b));
    let sum = 0;
    const enough = sorted.findIndex((each) => {
      sum += cost(each);
      return sum > (this.#patient ? 10 : 1) * PATIENCE;
    });
    return enough < 0 ? sorted : sorted.slice(0, enough);
  }

  async judge(mutant: Mutant, slot: number): Promise<Result | undefined> {
    const number = this.#numbers.get(mutant)!;
    const tests = this.#quickest((test) => this.#reached[test]!.has(number));
    const { id } = mutant;
    if (tests.length === 0 && !this.#atLoad.has(number)) return { id, verdict: 'unreached' };
    const ran = tests.length > 0 ? await this.#running(number, tests, slot) : undefined;
    // A test may come by another copy only, which it loads itself: those of all others were loaded before.
    const verdict = this.#atLoad.has(number) && ran?.verdict !== 'killed' ? await this.#loaded(mutant) : ran;
    if (!verdict || verdict.verdict === 'unfit') return undefined;
    return { id, verdict: verdict.verdict, by: verdict.by, how: verdict.how };
  }

  /** Of what runs in a test. */
  async #running(mutant: number, tests: readonly Told[], slot: number): Promise<Verdict | undefined> {
    const worker = this.#workers[slot]!;
    const doubted = new Set<number>();
    while (doubted.size < DOUBTS) {
      const left = tests.filter(({ test }) => !doubted.has(test));
      const verdict = await worker.ask<Verdict>({ mutant, tests: left }, WITHIN);
      if (!verdict) return { verdict: 'killed', by: 'whoever comes by', how: 'time' };
      // Whatever still goes on in there, it is not to be mistaken for the next one.
      if (verdict.how === 'time' || verdict.verdict === 'unfit') await worker.end();
      if (verdict.verdict !== 'unfit') return verdict;
      const alone = left.find(({ test }) => test === verdict.test)!;
      const passes = async (mutant: number): Promise<boolean> => {
        const answer = await worker.ask<Verdict>({ alone, with: mutant }, WITHIN);
        await worker.end();
        return answer?.verdict === 'survived';
      };
      // What the mutant left behind may have made it fail without the mutant.
      if (!(await passes(mutant)) && (await passes(NONE))) return { ...verdict, verdict: 'killed' };
      doubted.add(alone.test);
    }
    return undefined;
  }

  /** Of what has done its work when the module is loaded: it needs a process of its own. */
  async #loaded(mutant: Mutant): Promise<Verdict> {
    const own = this.mutants.filter(({ file }) => file === mutant.file).map((each) => this.#numbers.get(each)!);
    // A test that looks at a constant comes by no mutant, so all of a file count of which one comes by.
    const files = new Set(this.#files.filter((_, test) => own.some((number) => this.#reached[test]!.has(number))));
    // Of a file of constants nobody comes by anything: then it may be anybody.
    const tests = await this.#sound(this.#quickest((test) => files.size === 0 || files.has(this.#files[test]!)));
    const answer = await this.#inNewProcess(this.#numbers.get(mutant)!, tests);
    return answer ?? { verdict: 'killed', by: 'whoever loads it', how: 'time' };
  }

  /** Those that pass in this order where nothing is changed: one may need what another one did before it. */
  #sound(tests: readonly Told[]): Promise<readonly Told[]> {
    const look = async (): Promise<readonly Told[]> => {
      for (let left = tests; ; ) {
        const answer = await this.#inNewProcess(NONE, left);
        if (answer?.verdict !== 'killed') return left;
        left = left.filter(({ test }) => test !== answer.test);
      }
    };
    const order = tests.map(({ test }) => test).join();
    const known = this.#soundIn.get(order) ?? look();
    this.#soundIn.set(order, known);
    return known;
  }

  /** In a process that loads the files of these tests, and no others: it is needed for one mutant only. */
  async #inNewProcess(mutant: number, tests: readonly Told[]): Promise<Verdict | undefined> {
    if (tests.length === 0) return { verdict: 'survived' };
    const files = [...new Set(tests.map(({ test }) => this.#files[test]!))];
    await using worker = new Worker({ ...this.#environment, MUTANT: `${mutant}`, MUTATED_BY: files.join() });
    const first = await worker.start();
    if (!first) return undefined;
    // There, tests have numbers of their own: those of one file come one after the other, here and there.
    const numberOf = (file: string): number => first.tests.findIndex((test) => test.startsWith(`${file}: `));
    const own = ({ test, ...cost }: Told): Told => {
      const file = this.#files[test]!;
      return { ...cost, test: numberOf(file) + test - this.#files.indexOf(file) };
    };
    const verdict = await worker.ask<Verdict>({ mutant, tests: tests.map(own) }, WITHIN);
    const at = tests.findIndex((each) => own(each).test === verdict?.test);
    return verdict && { ...verdict, ...(at >= 0 && { test: tests[at]!.test }) };
  }

  async end(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.end()));
  }
}
