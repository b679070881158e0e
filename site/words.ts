import type { DefaultTheme } from 'vitepress';
import { LAB } from './pages.ts';

/** What the theme says around a page, in Chinese. */
export const chineseWords: {
  /** Where the words of a link in the README say too little by themselves. */
  readonly titles: readonly (readonly [page: string, title: string])[];
  readonly search: DefaultTheme.LocalSearchOptions['translations'];
  readonly theme: DefaultTheme.Config;
} = {
  titles: [
    ['README.md', '自述文件'],
    ['docs/README.md', '全部页面'],
    ['docs/comparison.md', '与其他库对比'],
    ['docs/support.md', '支持与升级'],
  ],
  search: {
    button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
    modal: {
      displayDetails: '显示详细列表',
      resetButtonTitle: '清除查询',
      backButtonTitle: '关闭搜索',
      noResultsText: '没有找到',
      footer: { selectText: '选择', navigateText: '切换', closeText: '关闭' },
    },
  },
  theme: {
    nav: [
      { text: '入门', link: '/zh/start.html' },
      { text: '需要哪种锁？', link: '/zh/which-lock.html' },
      { text: '选项与成员', link: '/reference.html' },
      { text: '实验室', link: LAB, target: '_self' },
      { text: '排查问题', link: '/zh/troubleshooting.html' },
    ],
    outline: { level: [2, 3], label: '本页目录' },
    lastUpdated: { text: '更新于' },
    docFooter: { prev: '上一页', next: '下一页' },
    darkModeSwitchLabel: '外观',
    lightModeSwitchTitle: '切换到浅色',
    darkModeSwitchTitle: '切换到深色',
    sidebarMenuLabel: '目录',
    returnToTopLabel: '回到顶部',
    langMenuLabel: '语言',
    skipToContentLabel: '跳到正文',
  },
};
