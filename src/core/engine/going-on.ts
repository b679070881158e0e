/** What may take any time as long as it goes on: the limit is for each of its steps. */
export class GoingOn {
  #step = Promise.withResolvers<void>();

  /** A step is over. */
  moved(): void {
    this.#step.resolve();
  }

  /** @param limited gives one step its limit, and rejects after it */
  async until<T>(act: Promise<T>, limited: (step: () => Promise<void>) => Promise<void>): Promise<T> {
    let over = false;
    const ended = act.then(() => {
      over = true;
    });
    ended.catch(() => {}); // of whoever gave up
    while (!over) {
      this.#step = Promise.withResolvers<void>();
      const { promise } = this.#step;
      await limited(() => Promise.race([ended, promise]));
    }
    return act;
  }
}
