import type { Bounds } from './duration.ts';
import type { Origin } from './origin.ts';

/** The differences between engines, as data, so that no code guesses from a name. */
export interface Traits {
  /** `exclusive`: mutex only. `shared`: readers too. `counted`: permits too. */
  readonly units: 'exclusive' | 'shared' | 'counted';
  /** Whether the engine keeps a queue: first come, first served across all processes. If not, the core asks again and again. */
  readonly fair: boolean;
  /** Claims join the queue by a race of writes. A claim may lose the race several times, while others get their turns. Default false. */
  readonly joinsByRace?: boolean;
  /**
   * A client that asks without pause may keep others out for long, since neither a queue nor anything else makes clients take turns. Default false.
   * If true, the conformance suite leaves out its laws on starvation.
   */
  readonly canStarve?: boolean;
  /** When exclusive tokens strictly grow: `always`; `never`; or `durable`, as long as the engine keeps the writes that it acknowledged. */
  readonly fencing: 'always' | 'durable' | 'never';
  /** Programs without holdfast hold keys here, too. So `delay` is refused: such a program would take an expired key at once. Default false. */
  readonly hasStrangers?: boolean;
  /** Several tokens in a row can be reserved, so that a hold may pass from hand to hand inside a process. */
  readonly tokenBlocks: boolean;
  /**
   * What core does when it has armed a watch after a refusal. `buffered`: nothing, since the engine keeps the notifications since the attempt.
   * `watch`: one more attempt. `never`: there is no watch, and waiters poll.
   */
  readonly wakes: 'buffered' | 'watch' | 'never';
  /**
   * A renewal can make a hold expire by itself after a given time. So no process waits for the end of `minHold`: the engine frees the key. But with
   * `observedExpiry` the process waits.
   */
  readonly expires: boolean;
  /**
   * The engine has no clock: a process sees an expiry only after it has watched the claim itself for the whole lease, or for the part of the lease that
   * no other process has watched. So a new process must watch an old hold as long before it takes the key. Default false.
   */
  readonly observedExpiry?: boolean;
  /**
   * What keeps a claim alive. `lease`: a lease of its own, as long as its ttl, so a claim that is not renewed ends by itself. `session`: a session,
   * connection or lease that the claims of a client share, so a claim ends by a release, or with the session.
   */
  readonly lifetime: 'lease' | 'session';
  /** A session stays at least this many ms after the last sign of life of its process. Undefined: the session ends with the connection. */
  readonly sessionGrace?: number;
  /** The longest `Claim.placeTtl` that a claim may ask for, ms. Default: `PLACE_TTL_MS`. */
  readonly placeTtl?: number;
  /** `anywhere`: every client of the engine can renew a hold, by its key, id and ttl alone. Default: only the client that took it. */
  readonly renewedFrom?: 'anywhere';
  /** The default of the option `spin`, ms, where each request costs money. */
  readonly spin?: { readonly pause: number; readonly bound: number };
  /** The longest value that can be stored under a key, in bytes. Undefined: no value can. */
  readonly values?: { readonly maxBytes: number };
  /** The bounds of a lease, ms, and what to do for a longer lease. The core asks for no lease below 3 ms. */
  readonly ttl: Bounds;
}

/** The usual `Traits.placeTtl`, ms: with a longer one a dead waiter would be noticed too late. */
export const MAX_PLACE_TTL_MS = 60_000;

/** A place in the queue may expire after this many ms without an attempt, unless its claim asks for longer. */
export const PLACE_TTL_MS = 6_000;

/** One claim as `inspect` shows it. The entry never has the id: a process that knows the id may release the claim. */
export interface QueueEntry {
  /** The key in whose queue the claim stands. */
  readonly key: string;
  /** Whether the rule admits the claim, so that it holds; if not, it waits. */
  readonly held: boolean;
  /** 0 is the head of the queue. */
  readonly position: number;
  /** The token; of an exclusive holder, the fencing token its hold began with. */
  readonly token: bigint;
  /** The units that the claim takes: all if it is exclusive, 1 for a reader, or its permits. */
  readonly units: number;
  /** All units of the key: 2³¹ − 1, or the permits of a semaphore. */
  readonly capacity: number;
  /** The label with which the claim joined the queue. A hold that passes from hand to hand inside a process keeps this label. */
  readonly label: string;
  /** The process that made the claim, and the holds around it. Undefined if an older version or another program made the claim. */
  readonly origin?: Origin;
  /** The time since the claim joined the queue, ms; undefined if the engine does not keep it. */
  readonly since?: number;
  /** The time until the claim expires unless renewed, `delay` included, ms; Infinity if a session carries it. */
  readonly remaining: number;
}

/** Options of a listing. */
export interface Listing {
  /** Lists only the key with exactly this name. The engine is asked for this key directly. */
  readonly exact?: boolean;
  /** It is called after each request to the engine, with the number of keys looked at so far, held or not. */
  readonly progress?: (looked: number) => void;
}

/** Short texts beside the locks, under names of their own. They are advice: they may be gone at any time, and the last write wins. */
export interface Hints {
  /** Reads a hint; undefined if there is none any more. */
  read(name: string): Promise<string | undefined>;
  /** Keeps a hint for `ttl` ms. Undefined removes it. */
  write(name: string, text: string | undefined, ttl: number): Promise<void>;
}
