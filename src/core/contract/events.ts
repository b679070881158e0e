import { type Channel, channel } from 'node:diagnostics_channel';
import { ofAllCopies } from './all-copies.ts';
import { Context, inNoContext } from './context.ts';
import { printable } from './printable.ts';

/** Of what every event tells. A new field, channel or `type` keeps it; what a listener could trip over raises it. */
export const EVENT_VERSION = 1;

/** Which lock was asked for. A part of `all()` is told as what it is. */
export type LockType = 'mutex' | 'reader' | 'writer' | 'semaphore';

/** What every event of a lock tells. Never an owner id. */
export interface LockEvent {
  /** 1: raised by whatever a listener could trip over. */
  readonly version: typeof EVENT_VERSION;
  /** The `number` of the `Locks` that it is about. */
  readonly locks: number;
  /** The request, and the hold that came of it: a number of its own in this process, from 1 on. */
  readonly request: number;
  /** Of a part of `all()`: a number that its parts share, and no request has. */
  readonly all?: number;
  /** The name of the engine. */
  readonly backend: string;
  /** The key of the lock. */
  readonly key: string;
  /** Which kind of lock was asked for. */
  readonly type: LockType;
  /** Who asks, for people: the `label` of the options. */
  readonly label: string;
  /** Seats that are taken; of a semaphore the `units`. */
  readonly take: number;
  /** Seats that there are; of a semaphore the `permits`. */
  readonly of: number;
  /** Of exclusive holds. */
  readonly token?: bigint;
  /** How a request ended: ms since it was made. `released`, `lost`: ms held. */
  readonly duration?: number;
  /** `renewed`, `renewalFailed`: ms that were left of the lease, by what was known before. Infinity where it has no end. */
  readonly margin?: number;
  /** `lost`, `renewalFailed`, `releaseFailed`, `detectionFailed`, `timedOut`, `aborted`, `failed`: why. */
  readonly error?: unknown;
}

/**
 * Channels of `node:diagnostics_channel`, named `holdfast:waiting` and so on. They cost nothing while nobody listens.
 * An event is published in the async context of the caller whose lock it is about, whoever or whatever brought it about; of a
 * lock that was asked for before anybody listened, in no caller's.
 * A request is `waiting` when it could not be granted at once, and ends in one of these. `acquired`: the engine granted.
 * `handedOver`: a hold passed on inside the process. `reentered`: the caller holds it already. `refused`: it did not want to wait.
 * `timedOut`, `aborted`. `failed`: any other error.
 * A hold that was acquired or handed over is `renewed`, or not (`renewalFailed`: it is tried again until the deadline), and ends in
 * `released`, in `lost`, or in both: what is told as lost before its deadline may still be released.
 * `releaseFailed`: the engine did not answer a release, which is tried again in the background; it ends in `released`, too.
 * `detectionFailed`: a look for deadlocks failed, and is tried again; of each wait with `detect` that it was for.
 * `forced`: somebody evicted holders by `forceRelease`; it tells what `ForcedEvent` says.
 */
export const channels = {
  waiting: channel('holdfast:waiting'),
  acquired: channel('holdfast:acquired'),
  handedOver: channel('holdfast:handed-over'),
  reentered: channel('holdfast:reentered'),
  refused: channel('holdfast:refused'),
  timedOut: channel('holdfast:timed-out'),
  aborted: channel('holdfast:aborted'),
  failed: channel('holdfast:failed'),
  renewed: channel('holdfast:renewed'),
  renewalFailed: channel('holdfast:renewal-failed'),
  lost: channel('holdfast:lost'),
  released: channel('holdfast:released'),
  releaseFailed: channel('holdfast:release-failed'),
  detectionFailed: channel('holdfast:detection-failed'),
  forced: channel('holdfast:forced'),
} satisfies Record<string, Channel>;

/** What `forced` tells. */
export interface ForcedEvent {
  /** 1: raised by whatever a listener could trip over. */
  readonly version: typeof EVENT_VERSION;
  /** The `number` of the `Locks` that were told to. */
  readonly locks: number;
  /** The name of the engine. */
  readonly backend: string;
  /** The key whose holders were evicted. */
  readonly key: string;
  /** What `forceRelease` was given. */
  readonly reason: string;
  /** How many holders were evicted, from 0. */
  readonly evicted: number;
}

const all: readonly Channel[] = Object.values(channels);

type Counters = { locks: number; requests: number };

/** Of all copies: their events come on the same channels. */
const counters = ofAllCopies<Counters>('counters', () => ({ locks: 0, requests: 0 }));

/** From 1 on, each once in this process. */
export const nextNumber = (of: keyof Counters): number => ++counters[of];

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
  const publish = (): void => channels[name].publish(printable(make()));
  if (context) context.run(publish);
  else inNoContext(publish);
}
