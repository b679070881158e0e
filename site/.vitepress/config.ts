import { execFileSync } from 'node:child_process';
import { join, relative } from 'node:path';
import { type DefaultTheme, defineConfig, type UserConfig, type UserConfigFn } from 'vitepress';
import { SCENES } from '../../lab/scenes/index.ts';
import { checklists } from '../checklists.ts';
import { codeLinks, toExports, toScenes } from '../code-links.ts';
import { diagrams } from '../diagrams.ts';
import { links } from '../links.ts';
import { titleAndSentence, writeLlms } from '../llms.ts';
import { manifest, repository } from '../manifest.ts';
import { navigation, ONLY_CHINESE, type Section, titlesIn } from '../navigation.ts';
import {
  addressOf,
  anchorOf,
  chineseOf,
  HOME,
  isChinese,
  LAB,
  otherLanguageOf,
  rewrittenPath,
  root,
} from '../pages.ts';
import { writeReference } from '../reference/index.ts';
import { indexPerLanguage, searchOptions, tokenize } from '../search.ts';
import { tables } from '../tables.ts';
import { tabs } from '../tabs.ts';
import { writeTexts } from '../texts.ts';
import { turn } from '../turn.ts';
import { chineseWords } from '../words.ts';

const endTurn = await turn();
const reference = writeReference();
const scenes = SCENES.map(({ name }) => name);

const buildLab = (folder: string): unknown =>
  execFileSync(process.execPath, [join(root, 'scripts/build-lab.mjs'), folder, '--beside-pages']);

/** The page as it is in a language. */
type Version = (page: string) => string;

const itemsOf = (pages: Section['pages'], titleOf: (page: string, title: string) => string, inLanguage: Version) =>
  pages.map(([page, title]) => ({ text: titleOf(page, title), link: addressOf(inLanguage(page)) }));

const sidebar = (
  titleOf: (page: string, title: string) => string,
  nameOf: (section: Section) => string,
  inLanguage: Version = (page) => page,
) =>
  navigation.map(
    (section): DefaultTheme.SidebarItem => ({
      text: nameOf(section),
      collapsed: section.folded ?? false,
      items: [
        ...itemsOf(section.pages, titleOf, inLanguage),
        ...(section.name === 'Reference'
          ? [{ text: 'Exports', collapsed: true, items: itemsOf(reference.pages, titleOf, inLanguage) }]
          : []),
      ],
    }),
  );

const chineseTitles = new Map([...titlesIn('docs/README.zh-CN.md'), ...chineseWords.titles]);
const allPages = [...navigation.flatMap(({ pages }) => pages), ...reference.pages].map(([page]) => page);
const onlyChinese = ONLY_CHINESE.map(([page]) => page);
const inChinese = (page: string, title: string): string => {
  const name = chineseTitles.get(page) ?? title;
  return chineseOf(page) === undefined ? `${name}（英文）` : name;
};
const chineseIfThere = (page: string): string => chineseOf(page) ?? page;

/** With the pages that only readers of Chinese have, behind the first ones. */
function sidebarInChinese(): DefaultTheme.SidebarItem[] {
  const [start, ...others] = sidebar(inChinese, ({ chinese }) => chinese, chineseIfThere);
  const own = ONLY_CHINESE.map(([page, text]) => ({ text, link: addressOf(page) }));
  return [{ ...start, items: [...start!.items!, ...own] }, ...others];
}

const drawing =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="5" y="14" width="22" height="14" rx="3" fill="#0a8577"/>' +
  '<path d="M10 14v-4a6 6 0 0 1 12 0v4" fill="none" stroke="#0a8577" stroke-width="3.5"/></svg>';
const icon = `data:image/svg+xml,${encodeURIComponent(drawing)}`;

/** The version, and where the sources are, as the manifest says. */
const about = (changes: string, sources: string): DefaultTheme.NavItem[] => [
  {
    text: `v${manifest.version}`,
    items: [
      { text: changes, link: addressOf('CHANGELOG.md') },
      ...(repository ? [{ text: sources, link: repository }] : []),
    ],
  },
];

const config: UserConfig<DefaultTheme.Config> = defineConfig({
  title: 'holdfast',
  description:
    'Distributed locks for Node.js on the engine you already run: one at a time, across processes and machines.',
  srcDir: '..',
  outDir: join(root, 'dist-site'),
  cacheDir: join(root, '.tmp/site-cache'),
  // The pages are what lies at the top and under docs, and the reference, which is generated.
  srcExclude: ['!(docs|site)/**/*.md'],
  rewrites: rewrittenPath,
  lastUpdated: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: icon }]],
  markdown: {
    anchor: { slugify: anchorOf },
    languageAlias: { promela: 'c' },
    config(md) {
      links(md);
      checklists(md);
      tables(md);
      tabs(md);
      diagrams(md);
      codeLinks(md, [toExports(reference.addresses), toScenes(scenes)]);
    },
  },
  vite: {
    plugins: [indexPerLanguage(allPages)],
    // Else it looks for scripts in every page of HTML in the repository, also in those of the examples.
    optimizeDeps: { entries: [join(root, 'site/.vitepress/theme/index.ts')] },
    resolve: {
      alias: [
        { find: /^.*\/VPSocialLinks\.vue$/, replacement: join(root, 'site/.vitepress/theme/no-social-links.ts') },
        { find: /^minisearch$/, replacement: join(root, 'site/.vitepress/theme/two-indexes.ts') },
        { find: /^.*\/composables\/langs$/, replacement: join(root, 'site/.vitepress/theme/languages.ts') },
      ],
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        locales: { zh: { translations: chineseWords.search } },
        miniSearch: { options: { tokenize }, searchOptions },
      },
    },
    outline: [2, 3],
    externalLinkIcon: true,
    ...(repository && { editLink: { pattern: `${repository}/edit/main/:path`, text: 'Edit this page' } }),
  },
  locales: {
    root: {
      label: 'English',
      lang: 'en',
      themeConfig: {
        nav: [
          { text: 'Start', link: addressOf('docs/start.md') },
          { text: 'Which lock?', link: addressOf('docs/which-lock.md') },
          { text: 'Reference', link: addressOf('docs/reference.md') },
          { text: 'The lab', link: LAB, target: '_self' },
          { text: 'Troubleshooting', link: addressOf('docs/troubleshooting.md') },
          ...about('Changes', 'Repository'),
        ],
        sidebar: sidebar(
          (_page, title) => title,
          ({ name }) => name,
        ),
      },
    },
    zh: {
      label: '简体中文',
      lang: 'zh-CN',
      description: '一套 Node.js 分布式锁工具，运行在你已有的引擎上：跨进程、跨机器，一次只有一个。',
      themeConfig: {
        ...chineseWords.theme,
        nav: [...(chineseWords.theme.nav as DefaultTheme.NavItem[]), ...about('变更记录', '代码仓库')],
        sidebar: sidebarInChinese(),
      },
    },
  },
  // It is no page: it is built beside them.
  ignoreDeadLinks: [/^\/lab\//],
  // Not every page is in both languages, so each says where a change of language leads.
  transformPageData({ filePath, frontmatter }) {
    const front = isChinese(filePath) ? HOME : HOME.replace('.md', '.zh-CN.md');
    const other = otherLanguageOf(filePath) ?? front;
    const { sentence } = titleAndSentence(filePath);
    return {
      frontmatter: { ...frontmatter, otherLanguage: addressOf(other) },
      ...(sentence && { description: sentence.replaceAll('`', '') }),
    };
  },
  async buildEnd({ outDir, site }) {
    writeLlms(outDir, reference.pages, site.base);
    writeTexts(outDir, [...allPages, ...onlyChinese, ...allPages.flatMap((page) => chineseOf(page) ?? [])], site.base);
    buildLab(join(outDir, 'lab'));
    await endTurn();
    console.log(`The site is in ${relative(process.cwd(), outDir)}. To look at it: npx vitepress preview site`);
  },
});

/** A build keeps its turn to its end. A server of pages only had the reference to write. */
const configFor: UserConfigFn<DefaultTheme.Config> = async ({ command }) => {
  if (command === 'serve') await endTurn();
  return config;
};

export default configFor;
