import type { Clock } from './clock.ts';

/** Gives the result of `work`, or after `ms` the error that `late` makes. */
export function withLimit<T>(work: Promise<T>, ms: number, late: () => Error, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(late()));
    work.then(resolve, reject).finally(cancel);
  });
}

/** Does an act once for all callers. After a failure the next caller tries again. */
export function onceFor<T>(act: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= act().catch((error) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}

/** Collects all items, in their order. */
export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}
