import type { Origin } from './origin.ts';

/** What differs between engines, as data: asked by the core and the primitives, never guessed from a name. */
export interface Traits {
  /** `exclusive`: mutex only. `shared`: readers too. `counted`: permits too. */
  readonly seats: 'exclusive' | 'shared' | 'counted';
  /** Keeps a line: first come, first served over all processes. Where not, core asks again and again. */
  readonly fair: boolean;
  /**
   * A client that asks without pause may keep others out for long: the engine keeps no line, and nothing makes clients take turns.
   * Default false. With it, the conformance suite leaves out its laws on starvation.
   */
  readonly starves?: boolean;
  /** Exclusive tickets strictly grow: `always`; `durable`, as long as the engine keeps what it acknowledged; or `never`. */
  readonly fencing: 'always' | 'durable' | 'never';
  /** Several tickets in a row can be reserved, so that a hold may pass from hand to hand inside a process. */
  readonly spans: boolean;
  /** `mailbox`: arming is free, so it comes before the first attempt. `watch`: armed after a refusal. `never`: polled. */
  readonly wakes: 'mailbox' | 'watch' | 'never';
  /** A hold can be left to lapse by itself after a given time (`minHold` without a process that waits for it). */
  readonly lapses: boolean;
  /**
   * The engine has no clock: a lapse is seen only by a process that has watched the claim for all of its lease, so a newcomer takes over
   * an old hold no sooner. Default false.
   */
  readonly observedLapses?: boolean;
  /**
   * What keeps a claim there. `lease`: its own, of its ttl, so one that nobody asks for any more ends by itself. `session`: a
   * session, a connection or a lease that the claims of a client share, so it ends by a release, or with that.
   */
  readonly keptBy: 'lease' | 'session';
  /** For how long a session stays, at least, after the last sign of life of its process, ms. Undefined: it ends with the connection. */
  readonly outlives?: number;
  /** The longest that a claim may ask for its place to live without a sign of life (`Claim.placeTtl`), ms. Default: no longer than all do. */
  readonly placeTtl?: number;
  /** `anywhere`: every client of the engine can renew a hold, by its key, id and ttl alone. Default: only the client that took it. */
  readonly renewedFrom?: 'anywhere';
  /** The pauses of a waiter that does not say `spin`, ms, where a question costs money. Default: those of `spin`. */
  readonly spin?: { readonly pause: number; readonly bound: number };
  /** Bounds of a lease, ms. None below 3 ms is asked for. */
  readonly ttl: { readonly min: number; readonly max: number };
}

/** `Traits.placeTtl` where nothing but the wish to notice a dead waiter speaks against longer. ms. */
export const LONGEST_PLACE_TTL = 60_000;

/** ms after which a place in line may lapse without an attempt, unless its claim asks for longer. */
export const PLACE_TTL = 6_000;

/** One claim as `inspect` shows it. Never its id: whoever knows that may release. */
export interface Standing {
  /** The key of the line that it stands in. */
  readonly key: string;
  /** Admitted by the rule: a holder. Else a waiter. */
  readonly held: boolean;
  /** 0 is the head of the line. */
  readonly position: number;
  /** The ticket; of an exclusive holder, the fencing token its hold began with. */
  readonly ticket: bigint;
  /** Seats that it takes: `of` them, if it is exclusive; 1, a reader; else permits. */
  readonly take: number;
  /** Seats that there are: 2³¹ − 1, or the permits of a semaphore. */
  readonly of: number;
  /** As it was when it joined the line: what has passed from hand to hand inside a process since then keeps it. */
  readonly label: string;
  /** Whose it is, and which holds it is waited for inside of. Undefined where an older version or another program claimed. */
  readonly origin?: Origin;
  /** ms since it joined the line; undefined where the engine does not keep it. */
  readonly since?: number;
  /** ms until it lapses unless renewed, `delay` included; Infinity where a session carries it. */
  readonly remaining: number;
}

/** What is listed by `inspect`, and whom it tells that it goes on. */
export interface Listing {
  /** Not the keys that begin with the prefix, but the key of that very name: it is asked for directly. */
  readonly exact?: boolean;
  /** Called after each request to the engine, with the number of keys looked at so far, also where nobody holds anything. */
  readonly progress?: (looked: number) => void;
}

/** Words kept beside the locks, under names of their own. Advice: they may be gone any time, and the last write stays. */
export interface Notes {
  /** Undefined when there is none, or no longer. */
  read(name: string): Promise<string | undefined>;
  /** Kept for `ttl` ms. Undefined forgets. */
  write(name: string, text: string | undefined, ttl: number): Promise<void>;
}
