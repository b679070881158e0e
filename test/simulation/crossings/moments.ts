/** What becomes of a request, in order. */
const MOMENTS = ['asked', 'given', 'back', 'done'] as const;
export type Moment = (typeof MOMENTS)[number];

/** Lets others act just when something becomes of a request. */
export class Moments {
  readonly #reached = new Map(MOMENTS.map((moment) => [moment, Promise.withResolvers<void>()]));

  /** Resolves at the moment, or when it cannot come any more. */
  at(moment: Moment): Promise<void> {
    return this.#reached.get(moment)!.promise;
  }

  reach(moment: Moment): void {
    for (const each of MOMENTS.slice(0, MOMENTS.indexOf(moment) + 1)) this.#reached.get(each)!.resolve();
  }
}
