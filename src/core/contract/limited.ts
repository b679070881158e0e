import type { Clock } from './clock.ts';

/** The result of `work`, or after `ms` the error that `late` makes. */
export function limited<T>(work: Promise<T>, ms: number, late: () => Error, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(late()));
    work.then(resolve, reject).finally(cancel);
  });
}
