import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { navigation, ONLY_CHINESE } from '../../site/navigation.ts';
import { englishOf, isChinese, root } from '../../site/pages.ts';

test('every page is in the navigation of the site, once, and nothing else is', () => {
  const pages = ['*.md', 'docs/**/*.md'].flatMap((pattern) => globSync(pattern, { cwd: root }));
  const named = navigation.flatMap((section) => section.pages.map(([page]) => page));
  // A Chinese page stands where its English one does.
  expect(named.sort()).toEqual(pages.filter((page) => !isChinese(page)).sort());
  const without = pages.filter((page) => isChinese(page) && !pages.includes(englishOf(page)));
  expect(ONLY_CHINESE.map(([page]) => page).sort()).toEqual(without.sort());
});
