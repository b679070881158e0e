import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { codeLinks, toExports, toScenes } from '../../site/code-links.ts';
import { root } from '../../site/pages.ts';
import type { MarkdownRenderer } from '../../site/renderer.ts';
import { describeOn } from '../kit/suite.ts';

describeOn('site', 'names in code of the pages', () => {
  let md: MarkdownRenderer;
  beforeAll(async () => {
    const { createMarkdownRenderer } = await import('../../site/renderer.ts');
    const addresses = new Map([['LockError', '/reference/holdfast.html#lockerror']]);
    const targets = [toExports(addresses), toScenes(['robbed'])];
    md = await createMarkdownRenderer(root, { config: (each) => codeLinks(each, targets) }, '/holdfast/');
  });

  const rendered = (page: string, text: string): string =>
    md.render(text, { path: join(root, page), relativePath: page });

  test('a name of an export leads to the reference, once on a page, and not from a heading', () => {
    const html = rendered(
      'docs/troubleshooting.md',
      '# `LockError`\n\nA `LockError`, and `LockError` again, and `other`.',
    );
    expect(html.match(/href="\/holdfast\/reference\/holdfast.html#lockerror"/g)).toHaveLength(1);
    expect(html.split('</h1>')[0]).not.toContain('reference');
    expect(html).not.toContain('>other</code></a>');
  });

  test('a name of another library leads nowhere', () => {
    expect(rendered('docs/comparison.md', '`LockError` of theirs')).not.toContain('<a');
  });

  test('a scene leads to the lab, out of the router, from the pages that are about scenes', () => {
    const link = '<a target="_self" href="/holdfast/lab/#scene=robbed">';
    expect(rendered('docs/guides/traps.md', '`robbed`')).toContain(link);
    expect(rendered('docs/guides/traps.zh-CN.md', '`robbed`')).toContain(link);
    expect(rendered('docs/guides/advanced.md', '`robbed`')).not.toContain('<a');
  });
});
