import { channel } from 'node:diagnostics_channel';
import { type EVENT_VERSION, printable } from '../core/index.ts';

/**
 * Why a term ended. `settled`, `failed`, `lost`: its function settled or failed, or its lease was lost. `stopped`: the signal of `run` aborted.
 * `resigned`: `resign()` was called.
 */
export type TermEnd = 'settled' | 'failed' | 'lost' | 'stopped' | 'resigned';

/** What happened to one candidate. */
export interface LeaderEvent {
  /** 1; raised by a change that could break a listener. */
  readonly version: typeof EVENT_VERSION;
  /** The `number` of its `Locks`. */
  readonly locks: number;
  /** For a term: the `request` in the events of its lock. */
  readonly request?: number;
  /** The name of the engine. */
  readonly backend: string;
  /** The name of the election. */
  readonly name: string;
  /** Who the candidate is, for people: the `label` of the options. */
  readonly label: string;
  /** The token of the term, if the event is about one. */
  readonly token?: bigint;
  /** `elected`: ms that the candidate has waited for the term. `termEnded`, `termOverdue`: ms since the term began. */
  readonly duration?: number;
  /** `termEnded`, `termOverdue`: why the term ended. */
  readonly why?: TermEnd;
  /** The error, if something failed. */
  readonly error?: unknown;
}

/**
 * Channels of `node:diagnostics_channel`. `elected`: a term has begun. `termEnded`: its function has settled, and its lease is released or lost.
 * `termOverdue`: the term ended `settle` ago, and its function has not settled. `campaignFailed`: the engine did not answer; the campaign goes on.
 * `observationFailed`: an observer got no answer, and asks again.
 */
export const leaderChannels = {
  elected: channel('holdfast:elected'),
  termEnded: channel('holdfast:term-ended'),
  termOverdue: channel('holdfast:term-overdue'),
  campaignFailed: channel('holdfast:campaign-failed'),
  observationFailed: channel('holdfast:observation-failed'),
} as const;

/** Publishes an event. `make` runs only if somebody listens. */
export function publish(name: keyof typeof leaderChannels, make: () => LeaderEvent): void {
  if (leaderChannels[name].hasSubscribers) leaderChannels[name].publish(printable(make()));
}
