import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { circles, importsOf } from './architecture/circles.ts';
import { unclear } from './architecture/comments.ts';
import { unclearConstants } from './architecture/constants.ts';
import { labViolations } from './architecture/lab.ts';
import { LAYERS, violations } from './architecture/rules.ts';

const root = new URL('../', import.meta.url).pathname;
const files = globSync('{src,products}/**/*.{ts,tsx,css}', { cwd: root }).map((path) => path.replaceAll('\\', '/'));

test('src keeps to its layers, its clock and its size', () => {
  expect(files.length).toBeGreaterThan(20);
  const found = files.flatMap((path) => violations(path, readFileSync(`${root}${path}`, 'utf8')));
  expect(found.join('\n')).toBe('');
});

test('comments and messages are in plain words, those of Lua and SQL too', () => {
  const more = ['lab/**/*.{ts,tsx}', '{src,products}/**/*.{lua,sql}'].flatMap((glob) => globSync(glob, { cwd: root }));
  const all = [...files, ...more].filter((path) => !/\.css$|\.generated\.ts$/.test(path));
  const found = all.flatMap((path) =>
    unclear(readFileSync(`${root}${path}`, 'utf8'), path).map((what) => `${path}: ${what}`),
  );
  expect(found.join('\n')).toBe('');
});

test.each([
  ['/** Whoever asks is served. */', '"whoever"'],
  ['  // it is begun anew', '"anew"'],
  ['const a = 1; // whatever it is', '"whatever"'],
  ['/** Of the lease. */', 'a comment that begins with "Of"'],
  ['/**\n * Whose hold ended.\n */', 'a comment that begins with "Whose"'],
  ["const told = 'whoever asks is served';", '"whoever"'],
  ['-- Whoever asks\n-- is served.\nSELECT 1', '"whoever"', 'src/a.sql'],
  ['local a = 1 -- whatever it is', '"whatever"', 'src/a.lua'],
])('finds words that a reader stumbles over: %s', (text, what, path = 'src/a.ts') => {
  expect(unclear(text, path)).toEqual([expect.stringContaining(what)]);
});

test('lets pass plain words, and words that are no comment', () => {
  expect(unclear("/** The office of a leader. */\nconst anew = 'whoever'; // of one key", 'src/a.ts')).toEqual([]);
});

test('constants say what they are, and in which unit', () => {
  const all = files.filter((path) => !/\.css$|\.generated\.ts$/.test(path));
  const found = all.flatMap((path) => unclearConstants(path, readFileSync(`${root}${path}`, 'utf8')));
  expect(found.join('\n')).toBe('');
});

test.each([
  ['const LONGEST = 512;', '"LONGEST" of what?'],
  ['const MOST_KEYS = 512;', '"MOST" of what?'],
  ['const LOOK_MS = 10;', '"LOOK" of what?'],
  ['const LATE = { late: true };', '"LATE" of what?'],
  ['/** The longest time of a call, ms. */\nexport const TIMEOUT = 5 * 1_000;', 'in ms'],
  ['/** The pauses, ms. */\nconst FIRST_PAUSE = 50;\nconst LAST_PAUSE = 2_000;', 'in ms'],
  ['/** The age of a value, µs. */\nconst MAX_AGE = 5;', 'in µs'],
  ['/** A message has as many bytes. */\nconst MAX_SIZE = 5;', 'in bytes'],
  ['const WAIT = 5;\nclock.after(Math.min(ms, WAIT), act);', 'used as a time'],
  ['const WAIT = 5;\nconst due = clock.now() + WAIT;', 'used as a time'],
  ['const DAY = 86_400_000;', 'is a time'],
  ['const JITTER = 1 / 4;', 'is a part'],
])('finds a constant that says too little: %s', (text, what) => {
  expect(unclearConstants('src/a.ts', text)).toContainEqual(expect.stringContaining(what));
});

test('lets pass constants that say what they are', () => {
  const text = `/** Tries, and the pause between two, ms. */
const MAX_ATTEMPTS = 5;
const PAUSE_MS = 20;

const MAX_LEASE_MS = 365 * 86_400_000, US_PER_MS = 1_000, JITTER_PART = 0.5, TOO_LATE = { late: true };
clock.after(PAUSE_MS * JITTER_PART, act);`;
  expect(unclearConstants('src/a.ts', text)).toEqual([]);
});

test('no files of src or lab import each other in a circle, types included', () => {
  const all = [...files, ...globSync('lab/**/*.{ts,tsx}', { cwd: root })].filter((path) => !path.endsWith('.css'));
  const imports = new Map(all.map((path) => [path, importsOf(path, readFileSync(`${root}${path}`, 'utf8'))]));
  expect(circles(imports)).toEqual([]);
});

test('finds a circle, and no circle where all roads lead one way', () => {
  const of = (roads: Record<string, string[]>) => circles(new Map(Object.entries(roads)));
  expect(of({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] })).toEqual([]);
  expect(of({ a: ['b'], b: ['c'], c: ['b', 'd'], d: ['e'], e: ['d'] })).toEqual([
    ['d', 'e'],
    ['b', 'c'],
  ]);
});

test('the lock knows nothing of the products on it, and they know few files of the lock', () => {
  const importsFrom = (folder: string) =>
    files
      .filter((path) => path.startsWith(folder) && !path.endsWith('.css'))
      .flatMap((path) => importsOf(path, readFileSync(`${root}${path}`, 'utf8')));
  expect(importsFrom('src/').filter((path) => path.startsWith('products/'))).toEqual([]);
  const known = [...new Set(importsFrom('products/').filter((path) => path.startsWith('src/')))].sort();
  expect(known).toContain('src/locks.ts');
  expect(known.length, `files of the lock that products import: ${known}`).toBeLessThanOrEqual(23);
});

test('the rest of the library uses the core by its face, and a page in a browser the few files that it needs', () => {
  const known = files
    .filter((path) => !path.startsWith('src/core/') && !path.endsWith('.css'))
    .flatMap((path) => importsOf(path, readFileSync(`${root}${path}`, 'utf8')))
    .filter((path) => path.startsWith('src/core/'));
  expect(known).toContain('src/core/index.ts');
  const distinct = [...new Set(known)].sort();
  expect(distinct.length, `files of core that others import: ${distinct}`).toBeLessThanOrEqual(6);
});

test('the picture of the layers on the map is true', () => {
  const page = readFileSync(`${root}ARCHITECTURE.md`, 'utf8');
  const [, picture] = /```mermaid\nflowchart TD\n(.*?)```/s.exec(page)!;
  const layersOf = new Map(
    [...picture!.matchAll(/(\w+)\["([^"]+)"\]/g)].map(([, id, text]) => [id!, text!.split(', ')]),
  );
  const arrows = [...picture!.matchAll(/(\w+)(?:\["[^"]+"\])? --> (\w+)/g)];
  expect(arrows.length).toBeGreaterThan(5);
  for (const [, from, to] of arrows) {
    const wrong = layersOf
      .get(from!)!
      .filter((layer) => !layersOf.get(to!)!.some((other) => LAYERS[layer]!.includes(other)));
    expect(wrong, `what may not import ${layersOf.get(to!)}`).toEqual([]);
  }
  const drawn = [...layersOf.values()].flat().sort();
  expect(drawn, 'the layers that the picture shows').toEqual(
    Object.keys(LAYERS)
      .filter((layer) => layer !== 'index' && layer !== 'backend') // they only export
      .sort(),
  );
});

/** The types that the files export, each with its place. */
const typesOf = (paths: readonly string[]): readonly (readonly [name: string, path: string])[] =>
  paths.flatMap((path) =>
    [...readFileSync(`${root}${path}`, 'utf8').matchAll(/^export (?:abstract )?(?:class|interface|type) (\w+)/gm)].map(
      ([, name]) => [name!, path] as const,
    ),
  );

test('a type of the lock has a name for itself, but for backends that have the same idea in a file of the same name', () => {
  const inSrc = typesOf(files.filter((path) => path.startsWith('src/')));
  expect(inSrc.length).toBeGreaterThan(300);
  const fileOf = (path: string): string => path.replace(/^src\/backends\/[^/]+\//, 'src/backends/*/');
  const twice = [...Map.groupBy(inSrc, ([name]) => name)]
    .map(([name, found]) => ({ name, paths: found.map(([, path]) => path) }))
    .filter(({ paths }) => paths.length > 1 && new Set(paths.map(fileOf)).size > 1);
  expect(twice.map(({ name, paths }) => `${name} in ${paths.join(', ')}`)).toEqual([]);
});

test('a name that core exports stands for nothing else, products included', () => {
  const inCore = typesOf(files.filter((path) => path.startsWith('src/core/'))).map(([name]) => name);
  expect(inCore.length).toBeGreaterThan(50);
  const elsewhere = typesOf(files.filter((path) => path.startsWith('products/')));
  expect(elsewhere.filter(([name]) => inCore.includes(name))).toEqual([]);
});

test('few places state the rule that admits claims', () => {
  const places = files
    .filter((path) => path.startsWith('src/backends/'))
    .filter((path) => /new Tally|(?<!get )admitted\(/.test(readFileSync(`${root}${path}`, 'utf8')));
  expect(places).toContain('src/backends/shared/queued-claims.ts');
  expect(places.length, places.join(', ')).toBeLessThanOrEqual(4);
});

test('the lab keeps to its parts: scenes know of no page, and of no time but their own', () => {
  const lab = globSync('lab/**/*.{ts,tsx,css}', { cwd: root }).map((path) => path.replaceAll('\\', '/'));
  expect(lab.length).toBeGreaterThan(20);
  expect(lab.flatMap((path) => labViolations(path, readFileSync(`${root}${path}`, 'utf8'))).join('\n')).toBe('');
});

test.each([
  ['a scene on the page', 'lab/scenes/a.ts', "import { act } from '../page/state.ts';"],
  ['a scene on Node', 'lab/scenes/a.ts', "import { once } from 'node:events';"],
  ['the page on a test', 'lab/page/a.tsx', "import { Recorder } from '../../test/simulation/recorder.ts'; <b />;"],
  ['a stand-in that somebody imports', 'lab/stage/a.ts', "import { hostname } from '../browser/os.ts';"],
  ['the time of day', 'lab/stage/a.ts', 'export const at = Date.now();'],
  ['a part that is none', 'lab/helpers/a.ts', ''],
  ['too long', 'lab/page/a.css', 'b { }\n'.repeat(251)],
])('finds in the lab: %s', (_title, path, text) => {
  expect(labViolations(path, text)).toHaveLength(1);
});

test.each([
  ['core on a backend', 'src/core/a.ts', "import { memory } from '../backends/memory.ts';"],
  [
    'a room of core on one above it',
    'src/core/engine/a.ts',
    "import type { LocalLine } from '../queue/local-line.ts';",
  ],
  ['core on a primitive, for its type', 'src/core/a.ts', "import type { Lock } from '../primitives/lock.ts';"],
  ['core on the network', 'src/core/a.ts', "import { connect } from 'node:net';"],
  ['a primitive on locks', 'src/primitives/a.ts', "export * from '../locks.ts';"],
  ['a backend on a primitive', 'src/backends/a.ts', "import { Mutex } from '../primitives/lock.ts';"],
  ['a backend on another', 'src/backends/mysql/a.ts', "import { sql } from '../postgres/b.ts';"],
  ['a backend on a driver', 'src/backends/redis/a.ts', "import type { Redis } from 'ioredis';"],
  ['a backend on a driver, in passing', 'src/backends/redis/a.ts', "export let r: import('ioredis').Redis;"],
  [
    'the tests for users on a backend',
    'products/testing/laws/a.ts',
    "import { memory } from '../../backends/memory.ts';",
  ],
  ['the tests for users on a test runner', 'products/testing/a.ts', "import { test } from 'vitest';"],
  ['a driver loaded before it is needed', 'src/connect/redis.ts', "import { Redis } from 'ioredis';"],
  ['what not every user of Nest has', 'src/nestjs/a.ts', "import { Cron } from '@nestjs/schedule';"],
  ['the package itself', 'products/stock/a.ts', "import { createLocks } from 'holdfast';"],
])('finds a wrong arrow: %s', (_title, path, text) => {
  expect(violations(path, text)).toHaveLength(1);
});

test.each([
  ['Date.now()', 'src/core/a.ts', 'const t = Date.now();'],
  ['Date.now handed on', 'src/core/a.ts', 'const options = { now: Date.now };'],
  ['new Date()', 'src/backends/redis/a.ts', 'const t = new Date();'],
  ['Math.random()', 'src/primitives/a.ts', 'const r = Math.random() * 2;'],
  ['performance.now()', 'src/backends/etcd/a.ts', 'const t = performance.now();'],
  ['a bare timer', 'src/core/a.ts', 'setTimeout(() => {}, 5);'],
  ['a global timer', 'src/core/a.ts', 'globalThis.setInterval(() => {}, 5);'],
  ['a promised timer', 'src/core/a.ts', "import { setTimeout as sleep } from 'node:timers/promises';"],
])('finds time that is not from the clock: %s', (_title, path, text) => {
  expect(violations(path, text).join()).toMatch(/the Clock/);
});

test.each([
  ['a time-out when it is opened', 'new DatabaseSync(path, { timeout: 10_000 });'],
  ['the state of the transaction', "if (db.isTransaction) db.exec('ROLLBACK');"],
  ['a numbered parameter', "db.prepare('SELECT ?1');"],
  ['a numbered parameter in a template', 'db.prepare(`SELECT ?1`);'],
])('finds what SQLite of the oldest Node does not know: %s', (_title, text) => {
  const found = violations('products/stock/a.ts', `import { DatabaseSync } from 'node:sqlite';\n${text}`);
  expect(found.join()).toMatch(/SQLite has only in a newer Node/);
  expect(violations('products/stock/a.ts', text)).toEqual([]);
});

test.each([
  ['declared', 'export class A {', '}'],
  ['an expression', 'const a = class A {', '};'],
])('finds a class of more than 150 lines, by its name: %s', (_title, head, end) => {
  const ofLines = (lines: number): string => `// ü\n${head}\n${'  b = 1;\n'.repeat(lines - 2)}${end}`;
  expect(violations('src/core/a.ts', ofLines(150))).toEqual([]);
  expect(violations('src/core/a.ts', ofLines(151))).toEqual([
    expect.stringContaining('src/core/a.ts has A of 151 lines'),
  ]);
});

test.each([
  ['a method of a list', 'const all = []; all.push(...found);'],
  ['a function of numbers', 'const most = Math.max(0, ...rows.map((row) => row.length));'],
  ['a constructor', 'const date = new Date(...parts);'],
])('finds a list that is spread into the arguments of %s', (_title, text) => {
  expect(violations('src/core/a.ts', text).join()).toMatch(/fails for a long list/);
  expect(labViolations('lab/stage/a.ts', text).join()).toMatch(/fails for a long list/);
});

test('lets pass what makes a list, and arguments that came as such', () => {
  const text = 'export const call = (fn: Fn, ...args: Args) => fn(...args, new Set([...a, ...b]));';
  expect(violations('src/core/a.ts', text)).toEqual([]);
});

test('finds a file that is too long, unless it is generated, an index that is more than that, and a folder that is in no layer', () => {
  const long = 'export {};\n'.repeat(251);
  expect(violations('src/core/a.ts', long)).toEqual([expect.stringContaining('has 251 lines')]);
  expect(violations('products/ui/page/a.css', 'b { }\n'.repeat(251))).toEqual([
    expect.stringContaining('has 251 lines'),
  ]);
  expect(violations('src/backends/etcd/a.ts', `// Generated by a script\n${long}`)).toEqual([]);
  expect(violations('src/backends/redis/index.ts', 'const a = 1;')).toEqual([expect.stringContaining('only exports')]);
  expect(violations('src/helpers/a.ts', '')).toEqual([expect.stringContaining('src/helpers/a.ts is in no layer')]);
});

test.each([
  ['src/core/contract/clock.ts', 'export const now = () => Date.now();'],
  ['src/core/contract/clock.ts', "import { setImmediate } from 'node:timers';"],
  ['src/core/a.ts', 'export const expired = (socket: { setTimeout(ms: number): void }) => socket.setTimeout(5);'],
  ['src/core/a.ts', 'const date = new Date(0); // Date.now()'],
  ['src/backends/redlock.ts', "import { redis } from './redis/index.ts';"],
  ['src/connect/redis.ts', "const { Redis } = await import('ioredis');"],
  ['src/nestjs/a.ts', "import { Module } from '@nestjs/common';"],
  ['src/nestjs/schedule/a.ts', "import { Cron } from '@nestjs/schedule';"],
  ['src/connect/redis.ts', "import type { Redis } from 'ioredis';"],
  ['products/cli/run.ts', "import { spawn } from 'node:child_process'; import { connect } from '../connect/index.ts';"],
])('lets pass what is right in %s: %s', (path, text) => {
  expect(violations(path, text)).toEqual([]);
});
