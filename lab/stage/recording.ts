import type { Doing, Happening, Who } from './events.ts';
import type { Standing } from './line.ts';
import type { Message } from './message.ts';

export interface PersonView {
  readonly name: Who;
  readonly doing: Doing;
  readonly paused: boolean;
  readonly dead: boolean;
  readonly cut: boolean;
  readonly done: number;
  /** Why its last job failed. */
  readonly failed?: string;
  /** What it counts on; `until` is in true ms since the scene began, undefined where it knows of no end. */
  readonly belief?: { readonly token?: string; readonly until?: number };
}

export interface EngineView {
  readonly name: string;
  readonly paused: boolean;
  readonly dead: boolean;
  readonly cut: boolean;
  readonly line: readonly Standing[];
}

export interface ResourceView {
  readonly value: number;
  readonly writes: number;
  readonly lost: number;
  readonly newest?: string;
}

/** How everything stood from that time on, until the next moment. */
export interface Moment {
  readonly at: number;
  readonly people: readonly PersonView[];
  readonly engines: readonly EngineView[];
  readonly resource: ResourceView;
}

/** What came of a run, in numbers. */
export interface Tally {
  /** ms in which more than one counted on the lock. */
  readonly two: number;
  /** Writes that made another one's vanish. */
  readonly lost: number;
  /** The longest time that somebody waited while nobody worked, ms; infinite: to the end. */
  readonly idle: number;
  /** Requests to engines. */
  readonly requests: number;
  readonly engines: number;
  /** Jobs that were done. */
  readonly done: number;
  /** Writes that the guard refused. */
  readonly fenced: number;
}

/** A whole run: all that the page shows. Times are true ms since the scene began. */
export interface Recording {
  readonly ends: number;
  readonly moments: readonly Moment[];
  readonly messages: readonly Message[];
  readonly happenings: readonly Happening[];
  readonly tally: Tally;
}

/** How everything stood at that time. */
export function momentAt({ moments }: Pick<Recording, 'moments'>, at: number): Moment {
  let low = 0;
  for (let high = moments.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (moments[middle]!.at <= at) low = middle + 1;
    else high = middle;
  }
  return moments[Math.max(0, low - 1)]!;
}

/** Whether a process has any use for the lock, or for what it asked for. */
export const wants = ({ dead, doing }: PersonView): boolean => !dead && doing !== 'idle';

/** Whether a process counts on the lock at that time, within this moment. */
export const believes = ({ dead, belief }: PersonView, at: number): boolean =>
  !dead && belief !== undefined && at < (belief.until ?? Number.POSITIVE_INFINITY);
