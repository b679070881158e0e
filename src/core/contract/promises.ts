import type { Clock } from './clock.ts';
import { reasonOf } from './errors.ts';

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

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Calls `act` once when the signal aborts; at once, if it has aborted. @returns a function that takes the listener away */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
  return () => signal.removeEventListener('abort', act);
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  const unlisten = signal && onAbort(signal, resolve);
  return promise.then(() => {
    cancel();
    unlisten?.();
  });
}

/** Makes the calls for one id one after the other: a call may repeat or undo an earlier call, so it must not overtake that call. */
export class KeyedSerializer<K = string> {
  readonly #last = new Map<K, Promise<unknown>>();

  has(id: K): boolean {
    return this.#last.has(id);
  }

  take<T>(id: K, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(id);
    const mine = before ? before.then(work, work) : work();
    this.#last.set(id, mine);
    const over = (): void => {
      if (this.#last.get(id) === mine) this.#last.delete(id);
    };
    mine.then(over, over);
    return mine;
  }
}

/** Calls a function of the user. An error of that function becomes a warning, and harms nothing else. */
export function callListener<T>(name: string, listener: (argument: T) => unknown, argument: T): void {
  const warn = (error: unknown): void =>
    process.emitWarning(`${name} failed, and holdfast goes on: ${reasonOf(error)}`, 'HoldfastListenerWarning');
  try {
    Promise.resolve(listener(argument)).catch(warn);
  } catch (error) {
    warn(error);
  }
}
