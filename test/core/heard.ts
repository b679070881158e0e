import { channels, type ForcedEvent, type LockEvent } from '../../src/core/contract/events.ts';

/** Listens to some channels until it is disposed of. */
export function heard(...names: (keyof typeof channels)[]): Disposable & {
  /** In the order in which they came. */
  readonly names: string[];
  readonly events: (LockEvent | ForcedEvent)[];
} {
  const found: { name: string; event: LockEvent | ForcedEvent }[] = [];
  const listeners = names.map((name) => {
    const listener = (event: unknown): void => {
      found.push({ name, event: event as LockEvent });
    };
    channels[name].subscribe(listener);
    return () => channels[name].unsubscribe(listener);
  });
  return {
    get names() {
      return found.map(({ name }) => name);
    },
    get events() {
      return found.map(({ event }) => event);
    },
    [Symbol.dispose]() {
      for (const unlisten of listeners) unlisten();
    },
  };
}
