/** What the site tells of every export, read from the declarations of the package. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { root } from '../../site/pages.ts';
import { pageOf, placesOf } from '../../site/reference/markdown.ts';
import { type Subpath, subpaths } from '../../site/reference/subpaths.ts';

let all: Subpath[];
const text = (subpath: Subpath) => pageOf(subpath, all, placesOf(all));
beforeAll(() => {
  all = subpaths();
}, 120_000);

test('every subpath with types has a page, with a heading for each of its exports', async () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const named = Object.keys(exports).filter((path) => path !== './package.json');
  expect(all.map(({ name }) => name)).toEqual(named.map((path) => `holdfast${path.slice(1)}`));
  for (const subpath of all) {
    const headings = [...text(subpath).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    // What a program really gets; types leave nothing behind to be asked for.
    const source = exports[`.${subpath.name.slice('holdfast'.length)}`].types
      .replace('./dist', 'src')
      .replace('.d.ts', '.ts');
    const values = Object.keys(await import(join(root, source)));
    expect(headings, subpath.name).toEqual(expect.arrayContaining(values));
    expect(headings, subpath.name).toEqual(subpath.exports.map(({ name }) => name));
  }
}, 60_000);

test('every export has a doc comment, and a page that shows it', () => {
  const each = all.flatMap((subpath) =>
    subpath.exports.map((one) => ({ at: `${subpath.name} ${one.name}`, one, subpath })),
  );
  expect(each.length).toBeGreaterThan(150);
  expect(each.filter(({ one }) => one.doc === '').map(({ at }) => at)).toEqual([]);
});

test('every option that a caller gives has a doc comment', () => {
  const undocumented = all.flatMap((subpath) =>
    subpath.exports
      .filter(({ name }) => name.endsWith('Options'))
      .flatMap(({ name, members }) => members.filter(({ doc }) => doc === '').map(({ code }) => `${name}: ${code}`)),
  );
  expect([...new Set(undocumented)]).toEqual([]);
});

test('every error code has a comment that says when it is thrown', () => {
  for (const name of ['LockErrorCode', 'StockErrorCode']) {
    const { code } = all.flatMap((subpath) => subpath.exports).find((each) => each.name === name)!;
    const codes = [...code.matchAll(/'([A-Z_]+)'/g)].map(([, one]) => one!);
    expect(codes.length).toBeGreaterThan(8);
    expect(codes.filter((one) => !new RegExp(`\\*/\\s*\\|? ?'${one}'`).test(code))).toEqual([]);
  }
});

test('a comment’s parameters, results and errors are on the page, and what is internal is not', () => {
  const main = text(all[0]!);
  expect(main).toContain('## createLocks');
  expect(main).toContain('`defaults`: options of every lock made from it');
  expect(main).toContain('Errors: `LOCK_INVALID`; `LOCK_UNSUPPORTED` on a Node.js that is too old');
  expect(main).toMatch(/- `readonly ttl\?: Duration \| undefined`\n\n {2}Lease: how long .* Default 30 s/);
  expect(main).not.toContain('@internal');
  expect(main).not.toContain('#private');
});
