import { type Channel, channel } from 'node:diagnostics_channel';
import { ofAllCopies } from './all-copies.ts';
import { type Context, inNoContext } from './clock.ts';
import type { ValueState } from './values.ts';
import { printable } from './visible.ts';

/** The version of the events. A new field, channel or `type` does not change it; a change that breaks a listener raises it. */
export const EVENT_VERSION = 1;

/** The kind of lock. A part of `all()` has its own kind. */
export type LockType = 'mutex' | 'reader' | 'writer' | 'semaphore';

/** The facts in every event of a lock. The id of a claim is never among them. */
export interface LockEvent {
  /** The version of the events: 1. A change that breaks a listener raises it. */
  readonly version: typeof EVENT_VERSION;
  /** The `number` of the `Locks` that have this lock. */
  readonly locks: number;
  /** The number of the request and of its hold: unique in this process, from 1 on. */
  readonly request: number;
  /** The number that all parts of one `all()` share. No request has this number. */
  readonly all?: number;
  /** The name of the engine. */
  readonly backend: string;
  /** The key of the lock. */
  readonly key: string;
  /** The kind of lock that was asked for. */
  readonly type: LockType;
  /** The `label` of the options, for people. */
  readonly label: string;
  /** The units that the request takes; of a semaphore, its `units`. */
  readonly units: number;
  /** All units of the key; of a semaphore, its `permits`. */
  readonly capacity: number;
  /** The fencing token of an exclusive hold. */
  readonly token?: bigint;
  /** At the end of a request: the time since it was made, ms. With `released` and `lost`: the time for which the lock was held, ms. */
  readonly duration?: number;
  /** With `renewed` and `renewalFailed`: the time that remained of the lease before the renewal, ms; Infinity if the lease has no end. */
  readonly margin?: number;
  /** With `answered` and `left`: the state of the value. The value itself is never in an event. */
  readonly state?: ValueState;
  /** With `lost`, after a forced release: its reason, if the engine keeps hints. At most 200 characters. */
  readonly reason?: string;
  /** With `lost`, `renewalFailed`, `refreshFailed`, `releaseFailed`, `detectionFailed`, `timedOut`, `aborted`, `failed`: the reason. */
  readonly error?: unknown;
}

/**
 * Channels of `node:diagnostics_channel`, named `holdfast:waiting` and so on. They cost nothing while nobody listens. An event is published in the
 * async context of the caller whose lock it is about, also if another caller or a timer caused it. If nobody listened when the caller asked, it is
 * published in the context of no caller. A request is `waiting` if it could not be granted at once, and ends in one of these events. `acquired`: the
 * engine granted it. `handedOver`: it got the hold of another caller of this process. `reentered`: the caller holds the lock already. `answered`: a
 * kept result settled a memo. `refused`: the lock was taken, and `wait` was 0. `timedOut`, `aborted`: the wait ended. `failed`: any other error. A
 * hold that was acquired or handed over is `renewed`, or its renewal fails (`renewalFailed`: it is tried again until the deadline). The hold ends in
 * `released`, in `lost`, or in both: a hold that was lost before its deadline may still be released. `left`: the release of a memo stored its result
 * or its error, and the engine has confirmed it. `refreshFailed`: the function of a memo failed when a new result was due, and its caller gets the
 * old result. `releaseFailed`: the engine did not answer a release, which is tried again in the background; such a hold has its `released`, too.
 * `detectionFailed`: a search for deadlocks failed, and is tried again. Each wait with `detect` gets this event. `forced`: `forceRelease` has evicted
 * holders; the event is a `ForcedEvent`.
 */
export const channels = {
  waiting: channel('holdfast:waiting'),
  acquired: channel('holdfast:acquired'),
  handedOver: channel('holdfast:handed-over'),
  reentered: channel('holdfast:reentered'),
  answered: channel('holdfast:answered'),
  refused: channel('holdfast:refused'),
  timedOut: channel('holdfast:timed-out'),
  aborted: channel('holdfast:aborted'),
  failed: channel('holdfast:failed'),
  renewed: channel('holdfast:renewed'),
  renewalFailed: channel('holdfast:renewal-failed'),
  lost: channel('holdfast:lost'),
  released: channel('holdfast:released'),
  left: channel('holdfast:left'),
  refreshFailed: channel('holdfast:refresh-failed'),
  releaseFailed: channel('holdfast:release-failed'),
  detectionFailed: channel('holdfast:detection-failed'),
  forced: channel('holdfast:forced'),
} satisfies Record<string, Channel>;

/** The facts in a `forced` event. */
export interface ForcedEvent {
  /** The version of the events: 1. A change that breaks a listener raises it. */
  readonly version: typeof EVENT_VERSION;
  /** The `number` of the `Locks` that forced the release. */
  readonly locks: number;
  /** The name of the engine. */
  readonly backend: string;
  /** The key whose holders were evicted. */
  readonly key: string;
  /** The reason that `forceRelease` was given. */
  readonly reason: string;
  /** The number of holders that were evicted, from 0. */
  readonly evicted: number;
}

type Counters = { locks: number; requests: number };

/** All copies of the package share these numbers, since their events come on the same channels. */
const counters = ofAllCopies<Counters>('counters', () => ({ locks: 0, requests: 0 }));

/** Gives the next number of this process, from 1 on. */
export const nextNumber = (of: keyof Counters): number => ++counters[of];

/**
 * Publishes an event. `make` runs only if somebody listens. Node reports the error of a listener; the lock never gets this error.
 * @param context the async context in which the event is published; undefined: the context of no caller
 */
export function emit(
  name: keyof typeof channels,
  context: Context | undefined,
  make: () => LockEvent | ForcedEvent,
): void {
  if (!channels[name].hasSubscribers) return;
  const publish = (): void => channels[name].publish(printable(make()));
  if (context) context.run(publish);
  else inNoContext(publish);
}
