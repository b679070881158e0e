import { computed, effect, signal } from '@preact/signals';
import { type Language, preferredLanguage, TAGS } from '../../../products/ui/page/kit/language.ts';
import type { Round, SceneName } from '../record.ts';
import { STRATEGIES } from '../record.ts';
import { type Plan, planOf } from './model/scene.ts';
import { type Verdict, verdictOf } from './model/verdict.ts';
import { en } from './words/en.ts';
import type { Words } from './words/words.ts';
import { zh } from './words/zh.ts';

const LANGUAGES: Readonly<Record<Language, Words>> = { en, zh };

export const language = signal<Language>(preferredLanguage(navigator.languages));
export const words = computed<Words>(() => LANGUAGES[language.value]);
effect(() => {
  document.documentElement.lang = TAGS[language.value];
  document.title = `holdfast: ${words.value.title}`;
});

export const scene = signal<SceneName>('orders');
export const strategy = signal<string>(STRATEGIES.orders[0]);

/** What is shown: the last round that was asked for. */
export const round = signal<Round | undefined>(undefined);
/** How many rounds are still to come, from the server. */
export const running = signal(0);
export const failure = signal<string | undefined>(undefined);

export interface SideView {
  readonly plan: Plan;
  readonly verdict: Verdict;
}

const viewOf = (side: 'without' | 'with') =>
  computed<SideView | undefined>(() => {
    const { value } = round;
    if (!value) return undefined;
    return { plan: planOf(value.scene, value[side]), verdict: verdictOf(value.scene, value[side]) };
  });

export const sides = { without: viewOf('without'), with: viewOf('with') } as const;
export type SideName = keyof typeof sides;

/** Of each round with this strategy, whether each side was right. */
export const tally = signal<readonly Readonly<Record<SideName, boolean>>[]>([]);
