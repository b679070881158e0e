import type { ManualClock } from '../../products/testing/index.ts';

/** What a program of a reader asks the time and sleeps by, over a clock that is moved. */
export function timerOf(clock: ManualClock, behind = 0) {
  const now = (): number => clock.epoch() - behind;
  return {
    now,
    /** As of `node:timers/promises`. */
    sleep(ms: number, _value?: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<void> {
      return new Promise((resolve, reject) => {
        const cancel = clock.after(ms, resolve);
        const stop = (): void => {
          cancel();
          reject(signal!.reason);
        };
        if (signal?.aborted) stop();
        else signal?.addEventListener('abort', stop, { once: true });
      });
    },
    Date: class extends Date {
      static override now = now;
    },
  };
}
