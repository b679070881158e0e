import type { Happening } from '../stage/events.ts';
import { en } from './en.ts';
import type { Words } from './words.ts';
import { zh } from './zh.ts';

export const LANGUAGES = { en, zh } as const satisfies Readonly<Record<string, Words>>;
export type Language = keyof typeof LANGUAGES;

/** A name of the stage, for people. Where there is one engine it needs no number. */
export function nameFor(words: Words, name: string | undefined, several: boolean): string {
  if (!name?.startsWith('engine')) return name === 'resource' ? words.ui.counter : (name ?? '');
  return words.engine(several ? name.slice('engine '.length) : undefined);
}

/** What just happened, in one sentence. */
export function sentence(words: Words, happening: Happening, several: boolean): string {
  const told = {
    ...happening,
    who: nameFor(words, happening.who, several),
    other: nameFor(words, happening.other, several),
    place: nameFor(words, happening.place, several),
  };
  return words.sentences[happening.what](told);
}
