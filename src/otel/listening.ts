import { channels, isLockError, type LockEvent } from '../core/index.ts';

type LockChannel = Exclude<keyof typeof channels, 'forced'>;

/** A listener for each channel of lock events. */
export type Listeners = Partial<Record<LockChannel, (event: LockEvent) => void>>;

/** The outcomes of a request, in the words of the metrics. */
export const OUTCOMES = {
  acquired: 'acquired',
  handedOver: 'handed_over',
  reentered: 'reentered',
  answered: 'answered',
  refused: 'refused',
  timedOut: 'timed_out',
  aborted: 'aborted',
  failed: 'failed',
} as const satisfies Partial<Record<LockChannel, string>>;

/** `error.type` of OpenTelemetry: the code of our errors, `_OTHER` for the rest. */
export const typeOfError = (error: unknown): string => (isLockError(error) ? error.code : '_OTHER');

export type End = keyof typeof OUTCOMES;

/** Makes a listener for each outcome of a request. */
export const forEachEnd = (listener: (event: LockEvent, end: End) => void): Listeners =>
  Object.fromEntries(
    (Object.keys(OUTCOMES) as End[]).map((end) => [end, (event: LockEvent) => listener(event, end)]),
  ) as Listeners;

/**
 * Listens to the events of one `Locks` only.
 * @param failed gets what a listener threw: an error that escapes would end the process
 * @returns a function that ends the listening
 */
export function listen(locks: number, all: readonly Listeners[], failed: (error: unknown) => void): () => void {
  const names = new Set(all.flatMap((listeners) => Object.keys(listeners) as LockChannel[]));
  const ends = [...names].map((name) => {
    const listening = all.flatMap(({ [name]: listener }) => listener ?? []);
    const receive = (message: unknown): void => {
      const event = message as LockEvent;
      if (event.locks !== locks) return;
      for (const listener of listening) {
        try {
          listener(event);
        } catch (error) {
          failed(error);
        }
      }
    };
    const channel = channels[name];
    channel.subscribe(receive);
    return () => channel.unsubscribe(receive);
  });
  return () => {
    for (const end of ends) end();
  };
}
