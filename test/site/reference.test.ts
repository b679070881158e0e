/** What the site tells of every export, read from the declarations of the package. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { sourceOf } from '../../scripts/sources.mjs';
import { root } from '../../site/pages.ts';
import { examplesIn } from '../../site/reference/comment.ts';
import type { Declaration } from '../../site/reference/declarations.ts';
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
    const source = sourceOf(exports[`.${subpath.name.slice('holdfast'.length)}`].types.replace('.d.ts', '.ts'));
    const values = Object.keys(await import(source));
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

/** Where a type says itself that another library's objects have this shape, that library says what its members do. */
const isForeign = ({ doc }: Declaration): boolean => doc.startsWith('What holdfast uses of');

/** A constructor takes what its class says, a call what the function that gives it says, and a symbol's name is the language's. */
const isNamed = ({ code }: Declaration['members'][number]): boolean => !/^(?:constructor\(|[[(<])/.test(code);

test('every member of an exported type has a doc comment', () => {
  const told = all.flatMap(({ exports }) => exports.filter((each) => !isForeign(each)));
  const each = told.flatMap(({ name, members }) => members.filter(isNamed).map((one) => ({ at: name, ...one })));
  expect(each.length).toBeGreaterThan(300);
  expect(each.filter(({ doc }) => doc === '').map(({ at, code }) => `${at}: ${code}`)).toEqual([]);
});

test('an option that may be left out says what is done without it', () => {
  const optional = all.flatMap(({ exports }) =>
    exports
      .filter(({ name }) => name.endsWith('Options'))
      .flatMap(({ name, members }) =>
        members
          .filter(({ code }) => /^readonly \w+\?: .*\b(?:Duration|number|boolean)\b/.test(code))
          .map((one) => ({ name, ...one })),
      ),
  );
  expect(optional.length).toBeGreaterThan(30);
  expect(
    optional.filter(({ doc }) => !/default|unless/i.test(doc)).map(({ name, code }) => `${name}: ${code}`),
  ).toEqual([]);
});

const isFunction = ({ code }: Declaration): boolean => /^(?:function |const \w+: (?:<[^(]*>)?\()/.test(code);
const methodOf = (code: string): string | undefined =>
  /^(?:static )?(?!constructor)(\w+)\??(?:<[^(]*>)?\(/.exec(code)?.[1];

/** A user writes them, or hands them from one part to another, and calls none of their methods. */
const PORTS = 'Backend Refinements Clock Hints StockStore Subject Faults NodeCronCoordinator LocksOptionsFactory'.split(
  ' ',
);

test('every function has an example, and every method that a user calls: of its own, or of its type, of what makes that, or of what it gives', () => {
  const exports = all.flatMap((subpath) => subpath.exports);
  const functions = exports.filter(isFunction);
  expect(functions.length).toBeGreaterThan(40);
  expect(functions.filter(({ doc }) => examplesIn(doc).length === 0).map(({ name }) => name)).toEqual([]);

  const types = exports.filter((each) => !isForeign(each) && !PORTS.includes(each.name));
  const methods = types.flatMap((type) =>
    type.members.flatMap((one) => ({ ...one, type, method: methodOf(one.code) })).filter(({ method }) => method),
  );
  expect(methods.length).toBeGreaterThan(50);
  const without = methods.filter(({ code, doc, type, method }) => {
    const bases = exports.filter(({ name }) => new RegExp(`(?:extends|implements) .*\\b${name}\\b`).test(type.code));
    if (bases.some(({ members }) => members.some((one) => methodOf(one.code) === method))) return false;
    const given = exports.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(code));
    const makers = functions.filter((each) => new RegExp(`\\): .*\\b${type.name}\\b`).test(each.code));
    const examples = [doc, type.doc, ...[...given, ...makers].map((each) => each.doc)].flatMap(examplesIn);
    return !examples.some((example) => new RegExp(`\\b${method}\\(`).test(example));
  });
  expect(without.map(({ type, code }) => `${type.name}: ${code}`)).toEqual([]);
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
  expect(main).toContain('`defaults`: options of every lock of these `Locks`');
  expect(main).toContain('Errors: `LOCK_INVALID`; `LOCK_UNSUPPORTED` on a Node.js that is too old');
  expect(main).toMatch(/- `readonly ttl\?: Duration \| undefined`\n\n {2}The lease: .* Default 30 s/);
  expect(main).not.toContain('@internal');
  expect(main).not.toContain('#private');
});
