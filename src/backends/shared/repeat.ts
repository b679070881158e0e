import type { Cancel, Clock } from '../../core/contract/clock.ts';

/**
 * Does `act` again and again, each time after a pause, and keeps no process alive for it. A failure ends nothing: the next time may go well.
 * @param pause ms until the next time
 * @returns ends it
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
