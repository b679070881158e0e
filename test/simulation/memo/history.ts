/** What happened to memos in a run, in true time. */
export interface MemoHistory {
  readonly seed: number;
  readonly scene: MemoScene;
  readonly events: readonly MemoEvent[];
}

/** What the run was like. */
export interface MemoScene {
  readonly wakes: 'buffered' | 'watch' | 'never';
  /** Nothing is lost, nothing stands still, and messages take at most 10 ms. */
  readonly calm: boolean;
  readonly wakesLost: boolean;
  /** Results are kept for longer than the run lasts, or only for the callers that wait when they come. */
  readonly keeps: boolean;
  /** How often a key may be begun without a result; Infinity: no limit. */
  readonly attempts: number;
  /** A result that is older than some hundred ms is made again, where results are kept. */
  readonly refreshes: boolean;
  /** Now and then a caller forgets what is kept. */
  readonly forgets: boolean;
}

export type MemoEvent = { readonly at: number } & (
  | { readonly what: 'asked'; readonly op: number; readonly by: string; readonly key: string }
  /** The function of a caller began; it ended. */
  | { readonly what: 'begun'; readonly op: number; readonly key: string; readonly token: bigint }
  | { readonly what: 'done'; readonly op: number; readonly value?: string }
  /** A caller has its result. */
  | {
      readonly what: 'had';
      readonly op: number;
      readonly key: string;
      readonly value: string;
      readonly ran: boolean;
      readonly kept: boolean | 'unknown';
      readonly token: bigint;
    }
  /** A caller has an error: a code of ours, or the message of what its own function threw. */
  | { readonly what: 'missed'; readonly op: number; readonly error: string }
  /** Runs of one key that all believe to hold it. */
  | { readonly what: 'believed'; readonly key: string; readonly ops: readonly number[] }
  /** A process begins to forget a key; it has come back. */
  | { readonly what: 'forgets' | 'forgot'; readonly op: number; readonly by: string; readonly key: string }
  | { readonly what: 'crashed'; readonly by: string }
  | { readonly what: 'fault'; readonly kind: string }
  /** Long after the end: what is still there. */
  | { readonly what: 'left'; readonly claims: number; readonly timers: number; readonly watches: number }
);
