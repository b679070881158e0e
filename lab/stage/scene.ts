import type { Actor } from './actor.ts';
import type { What, Who } from './events.ts';
import type { Tally } from './recording.ts';
import type { Stage } from './stage.ts';

/** One way to do the job of a scene. */
export interface Way {
  /** Made of plain commands on a key-value server, and not with the library. */
  readonly naive: boolean;
  /** How many engines there are. Default 1. */
  readonly engines?: number;
  /** The length of a lease, ms, if not that of the scene. */
  readonly ttl?: number;
  /** What a process does from asking for the lock to giving it back. */
  readonly job: (actor: Actor) => Promise<void>;
  /** What is told in it, from any seed: its words say so. */
  readonly shows: readonly What[];
  /** The heart of it, for people. */
  readonly code: string;
}

export type Harm = 'two' | 'lost' | 'idle' | 'storm';

/** A mistake and the same job done right, under the same faults. */
export interface Scene {
  readonly name: string;
  /** ms after which it is over, unless a person does something later. */
  readonly ends: number;
  /** The length of a lease, ms. */
  readonly ttl: number;
  /** How far wall clocks are ahead, ms. */
  readonly ahead?: Partial<Record<Who, number>>;
  /** Who begins when, and what goes wrong. */
  readonly plot: (stage: Stage) => void;
  readonly naive: Way;
  readonly holdfast: Way;
  /** What the naive way does for sure. */
  readonly harm?: Harm;
}

export type WayName = 'naive' | 'holdfast';

/** Requests to each engine for each job that was done, above which it is a storm. */
const STORM = 24;
/** ms for which somebody may wait while nobody works: a lease that expires, and some; or rivals who split the votes again and again. */
const IDLE = 1_800;

/** What went wrong, if anything. */
export function harms({ two, lost, idle, requests, done, engines }: Tally): Harm[] {
  return [
    ...(two > 0 ? ['two' as const] : []),
    ...(lost > 0 ? ['lost' as const] : []),
    ...(idle > IDLE ? ['idle' as const] : []),
    ...(done > 0 && requests / engines / done > STORM ? ['storm' as const] : []),
  ];
}
