import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../kit/folder.ts';
import { EQUIVALENT } from './equivalent.ts';
import { placeOf } from './identity.ts';
import type { Mutant } from './mutant.ts';
import { type Result, Results } from './results.ts';
import { sample } from './sample.ts';
import { schemata } from './schemata.ts';
import { mutantsOfScript } from './scripts.ts';
import { allMutants, ENGINES, scriptMutants } from './sources.ts';
import { SourcesLane } from './sources-lane.ts';
import { atLeast, rate, rows, sampledLine } from './table.ts';
import { mutantsOf } from './typescript.ts';

/** `< => <=` of each mutant, without the file, the declaration and the hash. */
const changes = (mutants: readonly Mutant[]): string[] => mutants.map(({ id }) => id.replace(/^\S+ .{6}: /, ''));
const of = (text: string): string[] => changes(mutantsOf('a.ts', text));

describe('the mutants of TypeScript', () => {
  test.each([
    [
      'a boundary, and both answers',
      'if (a < b) f();',
      ['a < b => true', 'a < b => false', '< => <=', 'f(); => guard'],
    ],
    ['what is waited for', 'await f();', ['await f(); => guard', 'await => void']],
    ['either side where one may be missing', 'g = a ?? b;', ['g = a ?? b; => guard', 'a ?? b => a', 'a ?? b => b']],
    [
      'a statement with an else behind it',
      'if (a) f(); else g();',
      ['a => true', 'a => false', 'f(); => guard', 'g(); => guard'],
    ],
  ])('has %s', (_, text, expected) => {
    expect(of(text)).toEqual(expected);
  });

  test.each([
    ['types', "type A = 'a' | 1; let x: A; interface B { c: true }"],
    ['messages', "const why = 'no such thing'; const more = 'several ' + why;"],
    ['imports', "import { a } from 'a'; export { b } from 'b';"],
    ['what is printed', "console.log('a', 1 + 1);"],
  ])('has none of %s', (_, text) => {
    expect(of(text)).toEqual([]);
  });

  test('each has an id of its own, which stays when another declaration changes', () => {
    const mine = 'const f = (a: number) => (a < 1 ? a - 1 : a - 1);';
    const ids = (text: string) =>
      mutantsOf('a.ts', text)
        .map(({ id }) => id)
        .filter((id) => id.includes('#f '));
    expect(new Set(ids(mine)).size).toBe(ids(mine).length);
    expect(ids(`const g = 5;\n${mine}`)).toEqual(ids(mine));
    expect(ids(mine.replace('a < 1', 'a < 2'))).not.toContainEqual(ids(mine)[0]);
  });

  test('it stays the same with another comment, another layout and other names inside of it', () => {
    const verdicts = (text: string) => mutantsOf('a.ts', text).map(({ id }) => placeOf(id));
    const mine = "function f(a: Box) { return a.at(-1) === 'x' && !/b/.test(a.title); }";
    const same =
      "/** Says so. */\nfunction f(\n  one: Crate, // a crate\n) { return one.at(-1) === 'x' && !/b/.test(one.label); }";
    expect(verdicts(same)).toEqual(verdicts(mine));
    for (const [from, to] of [
      ['.at(-1)', '.at(-2)'],
      ["'x'", "'y'"],
      ['/b/', '/c/'],
      ['&&', '||'],
      ['.at(', '.indexOf('],
      ['!/', '/'],
    ])
      expect(verdicts(mine.replace(from!, to!)), to).not.toContainEqual(verdicts(mine)[0]);
  });

  test('all of them together are still the program, as long as none does its work', () => {
    const text = 'let n = 0; for (let i = 0; i < 4; i++) { if (i === 2) continue; else n += i; } return n;';
    const mutants = mutantsOf('a.ts', `function f() { ${text} }`);
    const all = schemata(`function f() { ${text} }`, mutants, (mutant) => mutants.indexOf(mutant));
    const program = new Function('__mutant', `${all}; return f();`);
    const withMutant = (one?: number): number => program((number: number) => number === one);
    expect(withMutant()).toBe(4);
    expect(withMutant(mutants.findIndex(({ kind, from }) => kind === 'guard' && from === 'continue;'))).toBe(4);
    expect(withMutant(mutants.findIndex(({ to }) => to === 'n -= i'))).toBe(-4);
    expect(withMutant(mutants.findIndex(({ to }) => to === 'i <= 4'))).toBe(8);
  });
});

test.each([
  ['a.lua', 'if a < 1 then return end -- a < 1', ['a < 1 => true', 'a < 1 => false', '< => <=', '1 => 0', '1 => 2']],
  ['a.lua', "redis.call('DEL', key)", ["redis.call('DEL', key) => nothing"]],
  ['a.lua', 'local x = not y', ['not => nothing']],
  ['a.sql', 'SELECT a FROM b WHERE c >= d', ['>= => >']],
  ['a.sql', '  name TEXT NOT NULL,', []],
  ['a.sql', 'SELECT a FROM b WHERE c IS NOT NULL', ['NOT NULL => NULL']],
  ['a.sql', '  AND x IS NULL', ['AND x IS NULL => nothing', 'AND => OR', 'NULL => NOT NULL']],
])('the mutants of a script, %s: %s', (file, text, expected) => {
  expect(changes(mutantsOfScript(file, text))).toEqual(expected);
});

test('a sample is the same for the same seed, a larger one begins with it, and it says how sure it is', () => {
  const all = mutantsOfScript('a.lua', Array.from({ length: 40 }, (_, i) => `local a${i} = ${i} + b`).join('\n'));
  const small = sample(all, 10, '1');
  expect(small).toEqual(sample(all, 10, '1'));
  expect(sample(all, 30, '1').slice(0, 10)).toEqual(small);
  expect(sample(all, 10, '2')).not.toEqual(small);
  expect(new Set(sample(all, all.length, '1'))).toEqual(new Set(all));
  // Worked out by hand from the formula.
  expect(atLeast(90, 10)).toBeCloseTo(83.96, 1);
  expect(atLeast(0, 0)).toBe(0);
  const [row] = rows(small, { get: () => ({ verdict: 'killed' }) }, 'folder');
  expect(sampledLine('lua', [row!], all.length)).toMatch(/^lua: drawn at random, 10 of \d+ judged: 100.0 % killed/);
});

test('every mutant that is called equivalent is one of the sources as they are now', () => {
  const all = [...allMutants(), ...Object.keys(ENGINES).flatMap(scriptMutants)];
  const known = new Set(all.map(({ id }) => placeOf(id)));
  expect([...EQUIVALENT].filter((place) => !known.has(place))).toEqual([]);
});

test('an equivalent mutant counts neither as killed nor as one that survived', () => {
  const all = mutantsOfScript('a.lua', Array.from({ length: 4 }, (_, i) => `local a${i} = ${i} + b`).join('\n'));
  const [killed, equivalent, ...others] = all;
  const results = { get: (id: string) => ({ verdict: id === killed!.id ? 'killed' : 'survived' }) as const };
  const [row] = rows(all, results, 'folder', (id) => id === equivalent!.id || id === killed!.id);
  expect(row).toMatchObject({ killed: 1, equivalent: 1, survived: others.length });
});

test('says which mutants are killed, survive, are come by nowhere or never end', {
  timeout: 90_000,
}, async () => {
  const folder = 'test/mutation/fixtures';
  const tests = `${folder}/sample.laws.ts,${folder}/timers.laws.ts`;
  const lane = new SourcesLane(true, { sources: `${folder}/sample.ts`, tests });
  expect(await lane.prepare(1), 'left out by name').toEqual([`${folder}/timers.laws.ts (it cannot be loaded here)`]);
  const results = new Map<string, Result>();
  for (const mutant of lane.mutants) results.set(mutant.id, (await lane.judge(mutant, 0))!);
  await lane.end();
  const verdicts = (name: string) =>
    [...results.values()]
      .filter(({ id }) => id.includes(`#${name} `))
      .map(({ id, verdict, how }) => [id.replace(/^\S+ .{6}: /, ''), how === 'time' ? how : verdict]);
  expect(Object.fromEntries(verdicts('isAdult'))).toMatchObject({ '>= => >': 'killed' });
  expect(verdicts('FULL_AGE')).toEqual([
    ['18 => 0', 'killed'],
    ['18 => (18 * 10)', 'killed'],
  ]);
  expect(Object.fromEntries(verdicts('atLeastZero'))).toMatchObject({
    '< => <=': 'survived',
    'value < 0 ? 0 : value => value': 'killed',
  });
  expect(Object.fromEntries(verdicts('sumTo'))).toMatchObject({ '+= => -=': 'survived', 'i++ => i--': 'time' });
  expect(verdicts('nobodyCalls')).toEqual([['true => false', 'unreached']]);
  expect(verdicts('NOBODY_ASKS'), 'though a test fails in the order in which they are asked').toEqual([
    ['7 => 0', 'survived'],
    ['7 => (7 * 10)', 'survived'],
  ]);

  const [plain] = rows(lane.mutants, results, 'folder');
  expect(plain!.killed + plain!.survived).toBe(plain!.mutants);
  expect(rate({ ...plain!, killed: 3, survived: 1 })).toBe('75.0 %');
});

test('verdicts are kept from run to run, as long as their mutants are there', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'verdicts.jsonl');
  const verdicts = {
    'a.ts#f a-----: 0 => 1': 'killed',
    'a.ts#f b-----: < => >': 'survived',
    'b.ts#g c-----: 0 => 1': 'unreached',
  } as const;
  const ids = Object.keys(verdicts);
  const first = new Results(path);
  for (const [id, verdict] of Object.entries(verdicts)) first.add({ id, verdict });
  first.save(new Set([...ids, 'b.ts#g d-----: 0 => 1']));
  const second = new Results(path);
  expect(Object.fromEntries(ids.map((id) => [id, second.get(id)?.verdict]))).toEqual(verdicts);
  expect(second.get('b.ts#g d-----: 0 => 1')).toBeUndefined();
  expect(second.get('a.ts#h a-----: 0 => 1'), 'of a declaration that differs in its name').toBeUndefined();
  second.add({ id: ids[1]!, verdict: 'killed' });
  second.save(new Set([ids[1]!]));
  const third = new Results(path);
  expect(ids.map((id) => third.get(id)?.verdict)).toEqual([undefined, 'killed', undefined]);
});
