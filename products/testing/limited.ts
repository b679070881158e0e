import { type Clock, withLimit } from '../../src/core/index.ts';

/** Gives the result of `work`, or fails after `ms`. So work that never ends fails a case and does not hang it. */
export const limited = <T>(work: Promise<T>, ms: number, message: string, clock: Clock): Promise<T> =>
  withLimit(work, ms, () => new Error(message), clock);

/** Work that goes on while a case does other things. If the work fails before the case awaits it, that is no unhandled rejection. */
export function meanwhile<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}

/** Repeats `step`, such as `() => clock.advance(1)`, until the work has ended. @returns the result of the work */
export async function stepUntilEnd<T>(work: Promise<T>, step: () => Promise<unknown>): Promise<T> {
  let over = false;
  const end = (): void => {
    over = true;
  };
  work.then(end, end);
  while (!over) await step();
  return work;
}
