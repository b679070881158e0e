import { type Clock, withLimit } from '../../src/core/index.ts';

/** The result of `work`, or an error after `ms`: work that never ends fails a case instead of hanging it. */
export const limited = <T>(work: Promise<T>, ms: number, message: string, clock: Clock): Promise<T> =>
  withLimit(work, ms, () => new Error(message), clock);

/** Work that goes on beside a case. If it fails before the case awaits it, the failure is no unhandled rejection. */
export function meanwhile<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}

/** Repeats `step`, such as `() => clock.advance(1)`, until the work has ended. @returns what comes of it */
export async function stepUntilEnd<T>(work: Promise<T>, step: () => Promise<unknown>): Promise<T> {
  let over = false;
  const end = (): void => {
    over = true;
  };
  work.then(end, end);
  while (!over) await step();
  return work;
}
