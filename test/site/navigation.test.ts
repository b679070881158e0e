import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { navigation } from '../../site/navigation.ts';
import { root } from '../../site/pages.ts';

test('every page is in the navigation of the site, once, and nothing else is', () => {
  const pages = ['*.md', 'docs/**/*.md'].flatMap((pattern) => globSync(pattern, { cwd: root }));
  const named = navigation.flatMap((section) => section.pages.map(([page]) => page));
  // Where a page is in Chinese too, that version takes its place there.
  expect(named.sort()).toEqual(pages.filter((page) => !page.endsWith('.zh-CN.md')).sort());
});
