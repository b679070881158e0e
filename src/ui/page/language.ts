import { computed, signal } from '@preact/signals';
import { duration, type Language, preferredLanguage, TAGS } from './kit/language.ts';
import { ENGLISH, type Word } from './words/en.ts';
import { CHINESE } from './words/zh.ts';

const ofBrowser = preferredLanguage(navigator.languages);

/** The reader's choice; it is part of the address. */
export const chosen = signal<Language | undefined>();
export const language = computed<Language>(() => chosen.value ?? ofBrowser);

/** A sentence in the reader's language, with the values filled in. */
export function t(word: Word, values: Readonly<Record<string, string>> = {}): string {
  const sentence = (language.value === 'zh' ? CHINESE : ENGLISH)[word];
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}

export const number = (value: number): string => value.toLocaleString(TAGS[language.value]);

export const time = (ms: number): string => duration(ms, language.value);
