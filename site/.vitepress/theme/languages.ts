/** In place of the theme's way to change the language, which takes every page to be there in all of them. */
import { useData } from 'vitepress';
import { type ComputedRef, computed } from 'vue';

interface Language {
  readonly text: string | undefined;
  readonly link: string;
}

export function useLangs(): {
  readonly currentLang: ComputedRef<{ readonly label: string | undefined; readonly link: string }>;
  readonly localeLinks: ComputedRef<readonly Language[]>;
} {
  const { site, localeIndex, frontmatter } = useData();
  const front = (key: string): string => (key === 'root' ? '/' : `/${key}/`);
  return {
    currentLang: computed(() => ({
      label: site.value.locales[localeIndex.value]?.label,
      link: front(localeIndex.value),
    })),
    localeLinks: computed(() =>
      Object.entries(site.value.locales)
        .filter(([key]) => key !== localeIndex.value)
        .map(([key, { label }]) => ({ text: label, link: frontmatter.value.otherLanguage ?? front(key) })),
    ),
  };
}
