/** What the tests of the site use of its packages. */
export { default as MiniSearch } from 'minisearch';
export { createMarkdownRenderer, type MarkdownRenderer } from 'vitepress';
