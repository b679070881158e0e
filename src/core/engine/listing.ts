import { Context, inNoContext } from '../contract/clock.ts';

/** A time limit for each step of work that may take any time as a whole. */
export class StepLimit {
  #step = Promise.withResolvers<void>();

  /** Notes that a step is over. */
  stepDone(): void {
    this.#step.resolve();
  }

  /** @param limit makes one step under a time limit, and rejects after that time */
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

/**
 * Gives the items of a listing, which may take any time as long as it makes progress.
 * @param list begins the listing; it calls `step` after each request, with the number of keys looked at so far
 * @param ask makes one step under a time limit
 * @param progress the function of the caller, which is called after each request, too
 */
export async function* listed<T>(
  list: (step: (looked: number) => void) => AsyncIterable<T>,
  ask: (call: () => Promise<void>) => Promise<void>,
  progress: ((looked: number) => void) | undefined,
): AsyncIterable<T> {
  const caller = new Context();
  const limit = new StepLimit();
  const step = (looked: number): void => {
    limit.stepDone();
    if (progress) caller.run(() => progress(looked));
  };
  const found = inNoContext(() => list(step)[Symbol.asyncIterator]());
  try {
    for (;;) {
      const { done, value } = await limit.apply(
        inNoContext(async () => found.next()),
        ask,
      );
      if (done) return;
      yield value;
    }
  } finally {
    inNoContext(async () => found.return?.()).catch(() => {}); // nobody waits for the end, since the listing may hang in the call that took too long
  }
}
