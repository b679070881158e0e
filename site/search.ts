/** Search is in the page, by an index that is built with the site. */

/** Chinese has no spaces, so each of its characters is a word. Sent to the browser as text, so it may use nothing from outside. */
export const tokenize = (text: string): string[] =>
  text.replace(/\p{Script=Han}/gu, ' $& ').split(/[\n\r\p{Z}\p{P}]+/u);

interface Transform {
  readonly name: string;
  transform(code: string, id: string): string | undefined;
}

/** VitePress makes an index for each language by the folder of its sources. Here all lie in one, so all languages look in that. */
export const oneIndexForAll = (languages: readonly string[]): Transform => ({
  name: 'one-search-index',
  transform(code, id) {
    if (id !== '/@localSearchIndex') return undefined;
    const entries = languages.map((language) => `${JSON.stringify(language)}: () => import('@localSearchIndexroot')`);
    return code.replace('export default {', `export default {${entries.join(',')},`);
  },
});
