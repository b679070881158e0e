/**
 * What happened in a run, as the referee has it. `at` is ms of the machine's monotonic clock since the start, which all processes
 * of a machine share. `op` is one wish for one key, and the hold that came of it; `by` is a process, whichever takes its turn there.
 */
export type Event = { readonly at: number } & (Told | Seen);

/** By a process, about itself. Each time is taken on the safe side: nobody is said to hold before or after they surely did. */
export type Told =
  | ({ readonly what: 'asked'; readonly op: string; readonly by: number; readonly key: string } & Seats)
  /** It looked between `before` and `at`, and held. `remaining` is null where no time ends the hold. */
  | {
      readonly what: 'entered';
      readonly op: string;
      readonly before: number;
      readonly remaining: number | null;
      readonly token?: string;
    }
  /** It looked after `at`, and held. */
  | { readonly what: 'held'; readonly op: string; readonly remaining: number | null }
  /** It looked before `at`, and held no longer. */
  | { readonly what: 'lost'; readonly op: string }
  /** It looked after `at`, held, and then gave it back. */
  | { readonly what: 'left'; readonly op: string }
  /** The release had an answer. */
  | { readonly what: 'freed'; readonly op: string }
  /** The wish ended without a hold. */
  | { readonly what: 'refused'; readonly op: string; readonly code: string };

interface Seats {
  readonly take: number;
  readonly of: number;
}

/** By the referee. */
export type Seen =
  /** In the register: the first word of a holder, and its last. `accepted`: by its token. */
  | { readonly what: 'claimed' | 'wrote'; readonly op: string; readonly accepted: boolean }
  /** Before the signal was sent. */
  | { readonly what: 'killed' | 'stopped' | 'continued'; readonly by: number }
  /** Nobody had asked it to end. */
  | { readonly what: 'crashed'; readonly by: number; readonly how: string }
  | Disturbed
  | Over
  /** All processes are gone, and somebody still holds, though every lease of theirs is over. */
  | { readonly what: 'remains'; readonly key: string; readonly label: string };

/** Something is wrong from now on, until it is `over`. */
export interface Disturbed {
  readonly what: 'disturbed';
  readonly id: number;
  readonly kind: Disturbance;
  /** Whose process or connections; nobody's where the referee saw it itself. */
  readonly by?: number;
}

export interface Over {
  readonly what: 'over';
  readonly id: number;
  /** It hit somebody: a holder, a waiter, bytes on their way. */
  readonly effective: boolean;
}

/** What is done to processes… */
export const PROCESS_FAULTS = ['killed', 'stopped', 'blocked', 'starved'] as const;
/** …and to their connections. */
export const LINK_FAULTS = [
  'delayed',
  'stalled',
  'dripped',
  'cut',
  'cut before the request',
  'cut before the reply',
  'cut after the reply',
  'halved',
] as const;
export type ProcessFault = (typeof PROCESS_FAULTS)[number];
export type LinkFault = (typeof LINK_FAULTS)[number];
export type FaultKind = ProcessFault | LinkFault;
/** Beside what is done on purpose: the engine did not answer the referee itself, or the machine let it wait. */
export type Disturbance = FaultKind | 'no answer' | 'slow machine';
