/** What the nodes answer to one question, until it is certain what that comes to. The first outcome stands. */
export class Answers<Answer, Outcome> {
  readonly all: Answer[];
  readonly #tally: (all: readonly Answer[]) => Outcome | undefined;
  readonly #outcome = Promise.withResolvers<Outcome>();

  /** @param tally undefined while answers that are still to come may change it */
  constructor(all: Answer[], tally: (all: readonly Answer[]) => Outcome | undefined) {
    this.all = all;
    this.#tally = tally;
    this.#count();
  }

  get outcome(): Promise<Outcome> {
    return this.#outcome.promise;
  }

  heard(i: number, answer: Answer): void {
    this.all[i] = answer;
    this.#count();
  }

  #count(): void {
    const outcome = this.#tally(this.all);
    if (outcome !== undefined) this.#outcome.resolve(outcome);
  }
}
