/** A limit for work that may take any time as long as it makes progress: each step of it has the limit. */
export class StepLimit {
  #step = Promise.withResolvers<void>();

  /** Tells that a step is over. */
  stepDone(): void {
    this.#step.resolve();
  }

  /** @param limit gives one step its limit, and rejects after it */
  async apply<T>(work: Promise<T>, limit: (step: () => Promise<void>) => Promise<void>): Promise<T> {
    let over = false;
    const ended = work.then(() => {
      over = true;
    });
    ended.catch(() => {}); // the caller may have given up by then
    while (!over) {
      this.#step = Promise.withResolvers<void>();
      const { promise } = this.#step;
      await limit(() => Promise.race([ended, promise]));
    }
    return work;
  }
}
