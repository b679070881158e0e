import { computed, signal } from '@preact/signals';
import { ENGLISH, type Word } from './words/en.ts';
import { CHINESE } from './words/zh.ts';

export type Language = 'en' | 'zh';

const ofBrowser: Language = navigator.languages.find((tag) => /^(en|zh)\b/i.test(tag))?.startsWith('zh') ? 'zh' : 'en';

/** The reader's choice; it is part of the address. */
export const chosen = signal<Language | undefined>();
export const language = computed<Language>(() => chosen.value ?? ofBrowser);

/** A sentence in the reader's language, with the values filled in. */
export function t(word: Word, values: Readonly<Record<string, string>> = {}): string {
  const sentence = (language.value === 'zh' ? CHINESE : ENGLISH)[word];
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
}

export const number = (value: number): string => value.toLocaleString(language.value === 'zh' ? 'zh-Hans' : 'en');

const UNITS = [
  ['d', '天', 86_400_000],
  ['h', '小时', 3_600_000],
  ['m', '分', 60_000],
  ['s', '秒', 1_000],
] as const;

/** A duration in two units at most: `350 ms`, `1.5 s`, `3 m 20 s`. */
export function time(ms: number): string {
  const chinese = language.value === 'zh';
  if (ms < 1_000) return `${Math.round(ms)} ${chinese ? '毫秒' : 'ms'}`;
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} ${chinese ? '秒' : 's'}`;
  const at = UNITS.findIndex(([, , length]) => ms >= length);
  const [unit, name, length] = UNITS[at]!;
  const first = `${Math.floor(ms / length)} ${chinese ? name : unit}`;
  const next = UNITS[at + 1];
  const rest = next ? Math.floor((ms % length) / next[2]) : 0;
  return rest > 0 && next ? `${first} ${rest} ${chinese ? next[1] : next[0]}` : first;
}
