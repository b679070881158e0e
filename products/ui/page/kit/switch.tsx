import { type Language, TAGS } from './language.ts';

const NAMES: Readonly<Record<Language, string>> = { en: 'English', zh: '中文' };

/** The button that changes to the other language. Its text is in that language. */
export function LanguageSwitch({ now, choose }: { readonly now: Language; choose(language: Language): void }) {
  const other = now === 'zh' ? 'en' : 'zh';
  return (
    <button type="button" lang={TAGS[other]} onClick={() => choose(other)}>
      {NAMES[other]}
    </button>
  );
}
