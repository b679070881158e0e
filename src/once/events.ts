import { channel } from 'node:diagnostics_channel';
import type { EVENT_VERSION } from '../core/index.ts';
import type { Age } from './window.ts';

/** A message on the channel `ticksMissed`. */
export interface TicksMissedEvent {
  /** 1; raised by a change that could break a listener. */
  readonly version: typeof EVENT_VERSION;
  /** The `number` of the `Locks`. */
  readonly locks: number;
  /** The name of the engine. */
  readonly backend: string;
  /** The name that `once` got. */
  readonly name: string;
  /** How many ticks of the name there were, all of them late or early. */
  readonly ticks: number;
  /** Why the last tick was refused. */
  readonly reason: Exclude<Age, 'young'>;
  /** ms between the time of the last tick and the call, by the clock of this instance. */
  readonly by: number;
}

/** Channels of `node:diagnostics_channel`. `ticksMissed`, once for each name: all its ticks were late or early so far, so it never runs here. */
export const tickChannels = { ticksMissed: channel('holdfast:ticks-missed') } as const;

/** Publishes an event. `make` runs only if somebody listens. */
export function publish(make: () => TicksMissedEvent): void {
  if (tickChannels.ticksMissed.hasSubscribers) tickChannels.ticksMissed.publish(make());
}
