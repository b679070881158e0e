import type { Clock } from '../core/clock.ts';

/** What `work` comes to, or a rejection after `ms`: what never answers fails a case instead of hanging it. */
export async function limited<T>(work: Promise<T>, ms: number, message: string, clock: Clock): Promise<T> {
  let cancel = (): void => {};
  const limit = new Promise<never>((_, reject) => {
    cancel = clock.after(ms, () => reject(new Error(message)));
  });
  return Promise.race([work, limit]).finally(cancel);
}
