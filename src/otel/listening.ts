import { isLockError } from '../core/errors.ts';
import { channels, type LockEvent } from '../core/events.ts';

export type LockChannel = Exclude<keyof typeof channels, 'forced'>;

/** What is done about the events of locks, by channel. */
export type Listeners = Partial<Record<LockChannel, (event: LockEvent) => void>>;

/** How a request ends, in the words of metrics. */
export const OUTCOMES = {
  acquired: 'acquired',
  handedOver: 'handed_over',
  reentered: 'reentered',
  refused: 'refused',
  timedOut: 'timed_out',
  aborted: 'aborted',
  failed: 'failed',
} as const satisfies Partial<Record<LockChannel, string>>;

/** `error.type` of OpenTelemetry: the code of ours; of what is not, that it is another. */
export const typeOfError = (error: unknown): string => (isLockError(error) ? error.code : '_OTHER');

export type End = keyof typeof OUTCOMES;

/** A listener for each way that a request may end. */
export const forEachEnd = (listener: (event: LockEvent, end: End) => void): Listeners =>
  Object.fromEntries(
    (Object.keys(OUTCOMES) as End[]).map((end) => [end, (event: LockEvent) => listener(event, end)]),
  ) as Listeners;

/**
 * Listens to the events of one `Locks` only.
 * @param failed told of what a listener threw: an error that leaves it would end the process
 * @returns what ends it
 */
export function listen(locks: number, all: readonly Listeners[], failed: (error: unknown) => void): () => void {
  const names = new Set(all.flatMap((listeners) => Object.keys(listeners) as LockChannel[]));
  const ends = [...names].map((name) => {
    const listening = all.flatMap(({ [name]: listener }) => listener ?? []);
    const heard = (message: unknown): void => {
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
    channel.subscribe(heard);
    return () => channel.unsubscribe(heard);
  });
  return () => {
    for (const end of ends) end();
  };
}
