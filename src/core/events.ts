import { type Channel, channel } from 'node:diagnostics_channel';

/** What every event tells. Never an owner id. */
export interface LockEvent {
  readonly backend: string;
  readonly key: string;
  readonly label: string;
  readonly take: number;
  readonly of: number;
  /** Of exclusive holds. */
  readonly token?: bigint;
  /** `acquired`, `handedOver`: ms from the wish to the grant. `released`, `lost`: ms held. */
  readonly duration?: number;
  /** `lost`, `renewalFailed`: why. */
  readonly error?: unknown;
}

/**
 * Channels of `node:diagnostics_channel`, named `holdfast:waiting` and so on. They cost nothing while nobody listens.
 * `waiting`: a wish could not be granted at once. `acquired`: the engine granted. `handedOver`: a hold passed on inside the
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

/** `make` runs only when somebody listens. A listener's error is Node's to report; it never reaches the lock. */
export function emit(name: keyof typeof channels, make: () => LockEvent | ForcedEvent): void {
  if (channels[name].hasSubscribers) channels[name].publish(make());
}
