import type { Cancel, Clock } from '../../core/index.ts';

/**
 * Calls `act` again and again, each time after a pause. The timer keeps no process alive, and a failure of `act` does not end it.
 * @param pause gives the time until the next call, ms
 * @returns a function that ends the repetition
 */
export function repeat(clock: Clock, pause: () => number, act: () => unknown): Cancel {
  let cancel: Cancel | undefined;
  let over = false;
  async function once(): Promise<void> {
    try {
      await act();
    } catch {}
    later();
  }
  function later(): void {
    if (!over) cancel = clock.after(pause(), once, true);
  }
  later();
  return () => {
    over = true;
    cancel?.();
  };
}
