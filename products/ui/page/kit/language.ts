/** The languages of all pages of holdfast: the page of the command line, the lab and the example. */
export type Language = 'en' | 'zh';

export const TAGS: Readonly<Record<Language, string>> = { en: 'en', zh: 'zh-Hans' };

/** The first of the reader's languages that the pages have; otherwise English. */
export const preferredLanguage = (tags: readonly string[]): Language =>
  tags
    .find((tag) => /^(en|zh)\b/i.test(tag))
    ?.toLowerCase()
    .startsWith('zh')
    ? 'zh'
    : 'en';

const UNITS = [
  ['d', '天', 86_400_000],
  ['h', '小时', 3_600_000],
  ['m', '分', 60_000],
  ['s', '秒', 1_000],
] as const;

/** A duration in two units at most: `350 ms`, `1.5 s`, `3 m 20 s`. */
export function duration(ms: number, language: Language): string {
  const chinese = language === 'zh';
  if (ms < 1_000) return `${Math.round(ms)} ${chinese ? '毫秒' : 'ms'}`;
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} ${chinese ? '秒' : 's'}`;
  const at = UNITS.findIndex(([, , length]) => ms >= length);
  const [unit, name, length] = UNITS[at]!;
  const first = `${Math.floor(ms / length)} ${chinese ? name : unit}`;
  const next = UNITS[at + 1];
  const rest = next ? Math.floor((ms % length) / next[2]) : 0;
  return rest > 0 && next ? `${first} ${rest} ${chinese ? next[1] : next[0]}` : first;
}
