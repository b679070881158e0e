import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { packedPage, restore, write } from '../../scripts/packed-pages.mjs';
import { temporaryFolder } from '../kit/folder.ts';

const VERSION = { version: '1.2.3' };
const isPacked = (path: string): boolean => ['README.md', 'docs/start.md'].includes(path);
const packed = (text: string, manifest: Parameters<typeof packedPage>[3] = VERSION): string =>
  packedPage('docs/start.md', text, isPacked, manifest);

test.each([
  ['to a page of it', '[read](../README.md#so)'],
  ['to a heading of its own page', '[below](#so)'],
  ['to another host', '[there](https://example.com/a.md)'],
  ['in a block of code', '```md\n[proof](proof.md)\n```'],
  ['in a line of code', '`[proof](proof.md)`'],
])('the package keeps a link %s', (_what, text) => {
  expect(packed(text)).toBe(text);
});

test.each([
  ['a link', 'The [proof](proof.md#here), [why](a/b.md).', 'The proof (`docs/proof.md`), why (`docs/a/b.md`).'],
  ['a link over two lines', '[the\nproof](proof.md)', 'the\nproof (`docs/proof.md`)'],
  ['a link with code', '[`key` [1]](proof.md)', '`key` [1] (`docs/proof.md`)'],
  ['a link that says the path', '[`src/lua`](../src/lua)', '`src/lua`'],
  ['a picture', '![Two keys.](keys.png)', 'Two keys.'],
  ['a picture by a tag', '<img src="keys.png" width="1" alt="Two keys.">', 'Two keys.'],
])('what leads out of the package is words there: %s', (_what, text, words) => {
  expect(packed(text)).toBe(words);
});

test.each([
  { url: 'git+https://example.com/our/locks.git' },
  'https://example.com/our/locks',
])('what leads out of the package leads to this version in the repository, once that is known: %s', (repository) => {
  const to = (text: string): string => packed(text, { ...VERSION, repository });
  const host = 'https://example.com/our/locks';
  expect(to('[proof](proof.md#here)')).toBe(`[proof](${host}/blob/v1.2.3/docs/proof.md#here)`);
  expect(to('![Two.](keys.png)')).toBe(`![Two.](${host}/raw/v1.2.3/docs/keys.png)`);
  expect(to('<img src="keys.png" alt="Two.">')).toBe(`<img src="${host}/raw/v1.2.3/docs/keys.png" alt="Two.">`);
});

/** A repository whose README leads to a page that is not packed. */
function repository() {
  const folder = temporaryFolder();
  const path = (name: string): string => join(folder.path, name);
  const read = (name: string): string => readFileSync(path(name), 'utf8');
  mkdirSync(path('docs'));
  const files = ['docs/*.md', '!docs/proof.md'];
  writeFileSync(path('package.json'), JSON.stringify({ ...VERSION, files }));
  writeFileSync(path('README.md'), '[start](docs/start.md), [proof](docs/proof.md)');
  for (const name of ['docs/start.md', 'docs/proof.md']) writeFileSync(path(name), '[read](../README.md)');
  return { at: folder.path, path, read, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}
const INSIDE = '[start](docs/start.md), proof (`docs/proof.md`)';

test('after packing the pages of the repository are what they were', () => {
  using repo = repository();
  write(repo.at);
  expect(repo.read('README.md')).toBe(INSIDE);
  restore(repo.at);
  expect(repo.read('README.md')).toBe('[start](docs/start.md), [proof](docs/proof.md)');
  restore(repo.at);
});

test('the pages that an interrupted packing left are put back by the next one', () => {
  using repo = repository();
  write(repo.at);
  write(repo.at);
  expect(repo.read('README.md')).toBe(INSIDE);
  restore(repo.at);
  expect(repo.read('README.md')).toBe('[start](docs/start.md), [proof](docs/proof.md)');
});

test('a page that somebody changed while it was packed stays, and is told', () => {
  using repo = repository();
  const told = vi.spyOn(console, 'error').mockReturnValue();
  try {
    write(repo.at);
    writeFileSync(repo.path('README.md'), 'another text');
    restore(repo.at);
    expect(repo.read('README.md')).toBe('another text');
    expect(told.mock.calls.flat().join('\n')).toContain('README.md was changed');
    expect(existsSync(repo.path('.tmp/pages.json'))).toBe(false);
  } finally {
    told.mockRestore();
  }
});
