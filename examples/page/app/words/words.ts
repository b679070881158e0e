import type { Noted, SceneName } from '../../record.ts';
import type { Doing } from '../model/scene.ts';
import type { Verdict } from '../model/verdict.ts';

export interface Named {
  readonly name: string;
  /** A word of explanation. */
  readonly words: string;
}

/** All that the page says, in one language. */
export interface Words {
  readonly title: string;
  readonly lead: string;
  readonly scenes: string;
  readonly scene: Readonly<Record<SceneName, Named>>;
  readonly strategies: string;
  /** By its name on the server; `none`: the side without. */
  readonly strategy: Readonly<Record<SceneName, Readonly<Record<string, Named>>>>;
  readonly unsafe: string;
  readonly engine: (scheme: string) => string;
  readonly again: string;
  readonly tenMore: string;
  readonly running: string;
  readonly failed: (message: string) => string;
  readonly without: Readonly<Record<SceneName, string>>;
  readonly with: string;
  readonly right: string;
  readonly wrong: string;

  readonly order: (thing: number) => string;
  readonly free: string;
  readonly segment: (thing: number) => string;
  readonly shelf: string;
  readonly process: (process: number) => string;
  readonly who: (scene: SceneName, number: number) => string;
  /** What several have read: of an order 1 or 0, of a shelf the units. */
  readonly read: (scene: SceneName, count: number, left: number) => string;
  readonly token: (token: string) => string;
  readonly line: string;
  readonly doing: Readonly<Record<Doing, string>>;

  readonly play: string;
  readonly pause: string;
  readonly back: string;
  readonly forward: string;
  readonly time: string;
  readonly clock: (ms: number, of: number) => string;
  readonly speed: string;
  readonly slower: (factor: number) => string;

  readonly holds: (token: string) => string;
  readonly stopped: (token: string) => string;
  readonly lease: string;
  readonly leaseOver: string;
  readonly newest: (token: string) => string;
  readonly refusedToken: (token: string) => string;
  readonly overwritten: string;

  /** One side in a sentence. */
  readonly sentence: (scene: SceneName, strategy: string, verdict: Verdict) => string;
  readonly happening: (scene: SceneName, happening: Noted, number: number) => string;
  readonly tally: string;
  readonly rounds: (rounds: number, wrong: number) => string;
  readonly log: string;
  readonly real: (processes: number) => string;
  readonly legend: string;
}
