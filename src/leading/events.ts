import { channel } from 'node:diagnostics_channel';
import type { EVENT_VERSION } from '../core/events.ts';

/** Why a term ended. `settled`, `failed`: its function did. `stopped`: the signal of `run`. `resigned`: `resign()`. */
export type TermEnd = 'settled' | 'failed' | 'lost' | 'stopped' | 'resigned';

/** What happens to one candidate, told after it happened. */
export interface LeaderEvent {
  /** 1: raised by whatever a listener could trip over. */
  readonly version: typeof EVENT_VERSION;
  /** The `number` of the `Locks` that it is about. */
  readonly locks: number;
  /** Of a term: the `request` of the events of its lock. */
  readonly request?: number;
  /** The name of the engine. */
  readonly backend: string;
  /** The name of the election. */
  readonly name: string;
  /** Who the candidate is, for people: the `label` of the options. */
  readonly label: string;
  /** Of the term, where it is about one. */
  readonly token?: bigint;
  /** `elected`: ms from the candidacy to the term. `termEnded`, `termOverdue`: ms that the term lasted, or lasts by now. */
  readonly duration?: number;
  /** `termEnded`, `termOverdue`: why the term ended. */
  readonly why?: TermEnd;
  /** What failed, where something did. */
  readonly error?: unknown;
}

/**
 * Channels of `node:diagnostics_channel`. `elected`: a term has begun. `termEnded`: its function has settled and the lease was given
 * back, or is lost. `termOverdue`: the term was ended a while ago, and its function has not settled. `campaignFailed`: the engine could
 * not be asked; it is tried again. `observationFailed`: an observer could not ask; it goes on asking.
 */
export const leaderChannels = {
  elected: channel('holdfast:elected'),
  termEnded: channel('holdfast:term-ended'),
  termOverdue: channel('holdfast:term-overdue'),
  campaignFailed: channel('holdfast:campaign-failed'),
  observationFailed: channel('holdfast:observation-failed'),
} as const;

/** `make` runs only when somebody listens. */
export function tell(name: keyof typeof leaderChannels, make: () => LeaderEvent): void {
  if (leaderChannels[name].hasSubscribers) leaderChannels[name].publish(make());
}
