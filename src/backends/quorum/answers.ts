/** The answers of all nodes to one question, and the outcome once it is certain. The first outcome is final. */
export class Answers<Answer, Outcome> {
  readonly all: Answer[];
  readonly #tally: (all: readonly Answer[]) => Outcome | undefined;
  readonly #outcome = Promise.withResolvers<Outcome>();

  /** @param tally returns undefined while a missing answer may still change the outcome */
  constructor(all: Answer[], tally: (all: readonly Answer[]) => Outcome | undefined) {
    this.all = all;
    this.#tally = tally;
    this.#count();
  }

  get outcome(): Promise<Outcome> {
    return this.#outcome.promise;
  }

  receive(i: number, answer: Answer): void {
    this.all[i] = answer;
    this.#count();
  }

  #count(): void {
    const outcome = this.#tally(this.all);
    if (outcome !== undefined) this.#outcome.resolve(outcome);
  }
}
