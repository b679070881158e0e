import type { Happening, What } from '../stage/events.ts';
import type { Deed } from '../stage/faults.ts';
import type { Kind } from '../stage/message.ts';
import type { Tally } from '../stage/recording.ts';
import type { Harm, WayName } from '../stage/scene.ts';

/** A happening with its places named for people. */
export type DescribedHappening = Happening & { readonly who: string; readonly other: string; readonly place: string };

/** A scene for people. */
export interface SceneWords {
  readonly title: string;
  /** What the mistake is. */
  readonly about: string;
  /** What to look at, each way. */
  readonly naive: string;
  readonly holdfast: string;
}

/** Everything that the page says. */
export interface Words {
  readonly language: string;
  readonly title: string;
  readonly intro: string;
  readonly scenes: Readonly<Record<string, SceneWords>>;
  readonly ways: Readonly<Record<WayName, string>>;
  readonly sentences: Readonly<Record<What, (told: DescribedHappening) => string>>;
  readonly messages: Readonly<Record<Kind, string>>;
  readonly deeds: Readonly<Record<Deed, string>>;
  readonly harms: Readonly<Record<Harm, (tally: Tally) => string>>;
  readonly fine: (tally: Tally) => string;
  readonly engine: (number: string | undefined) => string;
  readonly ui: Readonly<Record<UiWord, string>>;
  readonly ms: (ms: number) => string;
}

export const UI_WORDS = [
  'scenes',
  'choose',
  'play',
  'pause',
  'back',
  'step',
  'restart',
  'speed',
  'slow',
  'normal',
  'fast',
  'time',
  'link',
  'linked',
  'story',
  'begin',
  'code',
  'timeline',
  'believes',
  'kept',
  'vain',
  'asks',
  'paused',
  'dead',
  'two',
  'idle',
  'asking',
  'works',
  'giving',
  'noEnd',
  'over',
  'free',
  'holder',
  'waits',
  'token',
  'counter',
  'guard',
  'noGuard',
  'lostWrites',
  'cut',
  'ahead',
  'act',
  'yours',
  'undo',
  'clear',
  'verdict',
  'wrong',
  'right',
  'other',
  'seed',
  'another',
  'keys',
  'documentation',
  'drag',
] as const;

export type UiWord = (typeof UI_WORDS)[number];
