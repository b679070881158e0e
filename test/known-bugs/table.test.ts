import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MEMO_MUTANTS } from '../simulation/memo/mutants.ts';
import * as simulated from '../simulation/mutants.ts';
import { MUTANTS as BACKENDS } from '../testing/mutants.ts';
import { FOUND } from '../torture/found.ts';
import type { Found } from './bug.ts';
import { KNOWN_BUGS, page } from './table.ts';

const root = join(import.meta.dirname, '..', '..');
const text = (file: string): string => {
  const path = join(root, file);
  return existsSync(path) ? readFileSync(path, 'utf8').replaceAll("\\'", "'") : '';
};
const has = (bugs: readonly { readonly bug: string }[], name: string): boolean => bugs.some(({ bug }) => bug === name);

/** What a list says is planted has a test each: those files go over the whole list. */
function isThere(found: Found): boolean {
  switch (found.by) {
    case 'planted in the core':
      return has(simulated.MUTANTS, found.bug);
    case 'planted in the quorum':
      return has(simulated.QUORUM_MUTANTS, found.bug);
    case 'planted in a backend':
      return has(BACKENDS, found.bug);
    case 'planted in memos':
      return has(MEMO_MUTANTS, found.bug);
    case 'planted under torture':
      return Object.hasOwn(FOUND, found.bug);
    case 'twin of a model':
      return (
        text(`models/${found.model}.pml`).includes(found.twin) && text('test/models.test.ts').includes(`${found.twin}:`)
      );
    case 'scene': {
      // In its order, all in one line: parts of two tests are no test.
      const parts = found.test.split('…').map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
      return new RegExp(parts.join('.*')).test(text(found.file));
    }
  }
}

describe.each(Object.entries(KNOWN_BUGS))('%s', (_, bugs) => {
  test.each(bugs.map((bug) => [bug.source, bug.what, bug] as const))('%s: %s: what finds it is there', (...[
    ,
    ,
    bug,
  ]) => {
    expect(isThere(bug.found), JSON.stringify(bug.found)).toBe(true);
  });
});

test('what is not there is missed', () => {
  expect(isThere({ by: 'scene', file: 'test/models.test.ts', test: 'no such scene' })).toBe(false);
  expect(isThere({ by: 'planted in the core', bug: 'is right' })).toBe(false);
  expect(isThere({ by: 'twin of a model', model: 'hand-off', twin: 'SOUND' })).toBe(false);
});

test('the page is what the table says', () => {
  expect(text('docs/known-bugs.md')).toBe(page().replaceAll("\\'", "'"));
});
