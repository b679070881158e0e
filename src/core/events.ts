import { type Channel, channel } from 'node:diagnostics_channel';
import { Context, inNoContext } from './context.ts';

/** What every event tells. Never an owner id. */
export interface LockEvent {
  readonly backend: string;
  readonly key: string;
  readonly label: string;
  readonly take: number;
  readonly of: number;
  /** Of exclusive holds. */
  readonly token?: bigint;
  /** `acquired`, `handedOver`: ms from the request to the grant. `released`, `lost`: ms held. */
  readonly duration?: number;
  /** `lost`, `renewalFailed`: why. */
  readonly error?: unknown;
}

/**
 * Channels of `node:diagnostics_channel`, named `holdfast:waiting` and so on. They cost nothing while nobody listens.
 * An event is published in the async context of the caller whose lock it is about, whoever or whatever brought it about; of a
 * lock that was asked for before anybody listened, in no caller's.
 * `waiting`: a request could not be granted at once. `acquired`: the engine granted. `handedOver`: a hold passed on inside the
 * process. `renewed`, `renewalFailed` (it is tried again until the deadline), `lost`, `released`. `forced`: somebody evicted
 * holders by `forceRelease`; it tells `{ backend, key, reason, evicted }`.
 */
export const channels = {
  waiting: channel('holdfast:waiting'),
  acquired: channel('holdfast:acquired'),
  handedOver: channel('holdfast:handed-over'),
  renewed: channel('holdfast:renewed'),
  renewalFailed: channel('holdfast:renewal-failed'),
  lost: channel('holdfast:lost'),
  released: channel('holdfast:released'),
  forced: channel('holdfast:forced'),
} satisfies Record<string, Channel>;

/** What `forced` tells. */
export interface ForcedEvent {
  readonly backend: string;
  readonly key: string;
  readonly reason: string;
  readonly evicted: number;
}

const all: readonly Channel[] = Object.values(channels);

/** The context that events of a lock asked for here are to be published in; nobody pays for it while nobody listens. */
export function eventContext(): Context | undefined {
  for (const each of all) if (each.hasSubscribers) return new Context();
  return undefined;
}

/**
 * `make` runs only when somebody listens. A listener's error is Node's to report; it never reaches the lock.
 * @param context in which it is published; undefined: in no caller's
 */
export function emit(
  name: keyof typeof channels,
  context: Context | undefined,
  make: () => LockEvent | ForcedEvent,
): void {
  if (!channels[name].hasSubscribers) return;
  const publish = (): void => channels[name].publish(make());
  if (context) context.run(publish);
  else inNoContext(publish);
}
