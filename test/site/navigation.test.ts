import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { navigation } from '../../site/navigation.ts';
import { root } from '../../site/pages.ts';

test('every page is in the navigation of the site, once, and nothing else is', () => {
  const pages = ['*.md', 'docs/**/*.md'].flatMap((pattern) => globSync(pattern, { cwd: root }));
  const named = navigation.flatMap((section) => section.pages.map(([page]) => page));
  // The Chinese front page has a language of its own.
  expect(named.sort()).toEqual(pages.filter((page) => page !== 'README.zh-CN.md').sort());
});
