import type { Clock } from '../core/clock.ts';

/** Gives the outcome of `work`, or rejects after `ms`: so an answer that never comes fails a case and does not hang it. */
export async function limited<T>(work: Promise<T>, ms: number, message: string, clock: Clock): Promise<T> {
  let cancel = (): void => {};
  const limit = new Promise<never>((_, reject) => {
    cancel = clock.after(ms, () => reject(new Error(message)));
  });
  return Promise.race([work, limit]).finally(cancel);
}
