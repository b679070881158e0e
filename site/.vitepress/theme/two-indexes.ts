/// <reference lib="dom" />
/** In place of the module by which the search box reads its index: it comes in two parts, and the box says as long as it waits for one. */

import { bothOf } from '../../both-indexes.ts';
import MiniSearch, { type Options, type SearchResult } from '../../node_modules/minisearch/dist/es/index.js';

interface Parts {
  readonly first: string;
  readonly later: () => Promise<{ readonly default: string }>;
}

/** The box searches when its text changes: so it is changed, and changed back. */
function searchAgain(): void {
  const input = document.querySelector<HTMLInputElement>('.VPLocalSearchBox input');
  if (!input?.value) return;
  const text = input.value;
  for (const value of [`${text} `, text]) {
    input.value = value;
    input.dispatchEvent(new Event('input'));
  }
}

export default {
  loadJSON({ first, later }: Parts, options: Options): { search(query: string): SearchResult[] } {
    let rest: MiniSearch | undefined;
    void later()
      .then((module) => {
        rest = MiniSearch.loadJSON(module.default, options);
      })
      .catch(() => {}) // the first part is searched all the same
      .finally(() => {
        delete document.documentElement.dataset.search;
        searchAgain();
      });
    return bothOf<SearchResult>(MiniSearch.loadJSON(first, options), () => rest);
  },
};
