/** What happened in a run, in true time: all that the checkers see. */
export interface History {
  readonly seed: number;
  readonly scene: Scene;
  readonly events: readonly Event[];
}

/** What the run was like. */
export interface Scene {
  readonly wakes: 'buffered' | 'watch' | 'never';
  readonly tokenBlocks: boolean;
  /** Nothing is lost but perhaps wakes, nothing stands still, and messages take at most 10 ms. */
  readonly calm: boolean;
  readonly wakesLost: boolean;
  /** What keeps a claim there. */
  readonly keptBy: 'lease' | 'session';
}

export interface Held {
  readonly hold: number;
  readonly units: number;
  readonly capacity: number;
}

/** A claim came into the line of a server or was refused, was admitted, was let go, or was dropped because it gave no sign of life. */
export interface Served {
  readonly did: 'joined' | 'refused' | 'admitted' | 'left' | 'expired';
  readonly id: string;
  readonly label: string;
  /** It had been admitted. */
  readonly held: boolean;
}

/** What is written down where options meet: see `crossings`. */
export type Crossed =
  /** A caller asked for its keys with these options; it has an answer; what it had is given back, and it goes on. */
  | {
      readonly what: 'request';
      readonly request: number;
      readonly by: string;
      readonly keys: readonly string[];
      readonly primitive: string;
      readonly features: readonly string[];
      readonly wait: number;
      /** The longest lease that it may ask for. */
      readonly ttl: number;
    }
  | { readonly what: 'answer'; readonly request: number; readonly error?: string }
  | { readonly what: 'gives back' | 'done' | 'aborts'; readonly request: number }
  /** Of a hold: its units, when it is over at the latest, and for how long it may stay after its release or its end. */
  | {
      readonly what: 'terms';
      readonly hold: number;
      readonly key: string;
      readonly units: number;
      readonly capacity: number;
      readonly limit: number;
      readonly renewals: number;
      readonly minHold: number;
      readonly linger: number;
      readonly ttl: number;
    }
  /** A hold ended by itself, or its process did; nobody may have the key before. */
  | { readonly what: 'over'; readonly hold: number; readonly key: string; readonly closedUntil: number }
  | { readonly what: 'closing' | 'closed'; readonly by: string }
  | { readonly what: 'forced'; readonly key: string; readonly evicted: number }
  /** Long after the end: what still listens to the signals of callers. */
  | { readonly what: 'listened'; readonly listeners: number }
  /** The function of a memo ran and gave this; a caller has that. */
  | { readonly what: 'made' | 'had'; readonly key: string; readonly token: bigint; readonly value: string };

export type Event = { readonly at: number } & (
  | { readonly what: 'asked'; readonly op: number; readonly by: string; readonly as: string }
  | { readonly what: 'settled'; readonly op: number; readonly error?: string }
  | { readonly what: 'crashed'; readonly by: string }
  /** Who believes that they hold the key, whenever that changes. Those who were robbed by force are left out. */
  | { readonly what: 'believed'; readonly key: string; readonly holders: readonly Held[] }
  /** Somebody believes to hold a key that fewer nodes than a majority keep for it. */
  | { readonly what: 'unkept'; readonly hold: number; readonly key: string; readonly votes: number }
  /** A caller was given a lease; several of one hold where it was re-entered. */
  | {
      readonly what: 'given';
      readonly hold: number;
      readonly lease: number;
      readonly id: string;
      readonly by: string;
      readonly key: string;
      readonly token?: bigint;
      readonly robbed: boolean;
      readonly passes: number;
      /** Until when `minHold` keeps the key taken, at least. */
      readonly kept: number;
    }
  /** A caller gave its lease back; `held`: what it said of itself just before. */
  | { readonly what: 'back'; readonly hold: number; readonly lease: number; readonly held: boolean }
  /** The signal of a lease fired; the event of a loss was told. */
  | { readonly what: 'signalled'; readonly hold: number; readonly lease: number }
  | { readonly what: 'lost'; readonly hold: number }
  /** Children that share a hold and exclude each other: in and out of what they guard. */
  | { readonly what: 'in' | 'out'; readonly key: string; readonly token: bigint; readonly child: number }
  /** The engine admitted a claim that had waited; it let go of a claim, asked by its process. */
  | { readonly what: 'admitted' | 'freed'; readonly id: string }
  /** What a server did with a claim, where somebody looks at it closely (test/models). */
  | ({ readonly what: 'served'; readonly node: number } & Served)
  /** A callback of the library's ran, or a call of it came: whose it is, and in whose context. */
  | { readonly what: 'called'; readonly as: string; readonly of?: string; readonly in?: string }
  /** Somebody was evicted by force. */
  | { readonly what: 'evicted'; readonly key: string }
  | { readonly what: 'fault'; readonly kind: string }
  | Crossed
  /** Long after the end: what is still there. */
  | { readonly what: 'left'; readonly claims: number; readonly timers: number; readonly watches: number }
);
