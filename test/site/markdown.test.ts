import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { checklists } from '../../site/checklists.ts';
import { links } from '../../site/links.ts';
import { root } from '../../site/pages.ts';
import type { MarkdownRenderer } from '../../site/renderer.ts';
import { tabs } from '../../site/tabs.ts';
import { describeOn } from '../kit/suite.ts';

describeOn('site', 'the pages as the site draws them', () => {
  let md: MarkdownRenderer;
  beforeAll(async () => {
    const { createMarkdownRenderer } = await import('../../site/renderer.ts');
    const { diagrams } = await import('../../site/diagrams.ts');
    md = await createMarkdownRenderer(root, {
      config(each) {
        links(each);
        checklists(each);
        diagrams(each);
        tabs(each);
      },
    });
  });

  const rendered = (markdown: string, page = 'docs/guides/advanced.md'): string =>
    md.render(markdown, { path: join(root, page), relativePath: page });

  test.each([
    ['a page beside it', '[x](memo.md)', 'docs/guides/advanced.md', 'href="/guides/memo.html"'],
    ['a heading of another page', '[x](../cli.md#once)', 'docs/guides/advanced.md', 'href="/cli.html#once"'],
    ['a page at the top', '[x](../../ARCHITECTURE.md)', 'docs/guides/advanced.md', 'href="/architecture.html"'],
    ['a folder that has a page', '[x](docs/decisions)', 'README.md', 'href="/decisions/"'],
    ['a page in Chinese', '[x](docs/start.zh-CN.md)', 'README.zh-CN.md', 'href="/zh/start.html"'],
    ['the front page in Chinese', '[x](README.zh-CN.md)', 'README.md', 'href="/zh/readme.html"'],
    ['another site', '[x](https://redis.io/docs)', 'README.md', 'href="https://redis.io/docs"'],
  ])('a link to %s is the address that it has on the site', (_what, markdown, page, href) => {
    expect(rendered(markdown, page)).toContain(href);
  });

  test('a page in Chinese says which of its links lead to a page in English', () => {
    const page = 'docs/guides/nestjs.zh-CN.md';
    expect(rendered('[x](telemetry.md)', page)).toContain('hreflang="en"');
    expect(rendered('[x](testing.zh-CN.md)', page)).not.toContain('hreflang');
    expect(rendered('[x](telemetry.md)')).not.toContain('hreflang');
  });

  test('a link to a source file becomes its name, once', () => {
    const link = (text: string) =>
      rendered(`See [${text}](../../src/core/contract/backend.ts).`).replaceAll(' v-pre', '');
    expect(link('the contract')).toBe('<p>See the contract (<code>src/core/contract/backend.ts</code>).</p>\n');
    expect(link('`src/core/contract/backend.ts`')).toBe('<p>See <code>src/core/contract/backend.ts</code>.</p>\n');
  });

  test('a link to what is not there stops the build, and says on which page it is', () => {
    expect(() => rendered('[x](gone.md)')).toThrow('docs/guides/advanced.md links to gone.md');
  });

  test('a diagram that would lack some of its words stops the build', () => {
    const fence = '```';
    expect(rendered(`${fence}mermaid\nflowchart LR\n  a["one"] --> b["two"]\n${fence}`)).toContain('<svg');
    // The renderer takes a label only from where the node is named first.
    expect(() =>
      rendered(`# Lines\n\n${fence}mermaid\nflowchart LR\n  a --> b\n  b["two words"] --> c\n${fence}`),
    ).toThrow('The diagram of “Lines” does not show: two words');
  });

  test('blocks that follow each other and have names are tabs', () => {
    const fence = '```';
    const html = rendered(
      `${fence}ts [Redis]\nconst a = 1;\n${fence}\n\n${fence}ts [a file]\nconst b = 2;\n${fence}\n\nAfter.\n`,
    );
    expect(html).toContain('vp-code-group');
    expect([...html.matchAll(/<label[^>]*>([^<]*)<\/label>/g)].map(([, name]) => name)).toEqual(['Redis', 'a file']);
    expect(rendered(`${fence}ts [Redis]\nconst a = 1;\n${fence}\n`)).not.toContain('vp-code-group');
  });

  test('an item of a checklist has a box', () => {
    expect(rendered('- [ ] done **so**')).toContain(
      '<input type="checkbox" aria-label="done"> done <strong>so</strong>',
    );
  });
});
