import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { inWords } from '../../src/core/contract/duration.ts';
import { LayeredOptions, OPTIONS, sameForEngine, sharedWith } from '../../src/core/contract/option-table.ts';
import type { LockOptions } from '../../src/core/contract/options.ts';
import type { Terms } from '../../src/core/contract/terms.ts';
import { createLocks } from '../../src/index.ts';

const { traits } = memory();
const NAMES = Object.keys(OPTIONS) as (keyof LockOptions)[];

/** A value of each option that is not the default. A new option needs one here, too. */
const OTHER: { readonly [N in keyof Required<LockOptions>]: LockOptions[N] } = {
  wait: 0,
  ttl: '20s',
  renew: false,
  maxHold: '1h',
  minHold: '1s',
  delay: '2s',
  notice: '1s',
  adaptive: { cap: '60s' },
  spin: { bound: 5_000 },
  signal: new AbortController().signal,
  label: 'another',
  awaitRelease: false,
  handOff: false,
  reentrant: false,
  onLoss: 'throw',
  detect: true,
};

/** A default as the reference writes it. */
function written(value: unknown, { ttl, label, notice, handOff, spin }: Terms): string {
  if (value === label) return '`host:pid`';
  if (value === notice) return notice === ttl / 10 ? 'a tenth of `ttl`' : `${notice} ms`;
  if (value === handOff) return `\`{ max: ${handOff.max}, within: '${handOff.within}ms' }\``;
  if (value === spin) return ''; // the row leads to a page of its own
  if (value === Number.POSITIVE_INFINITY) return 'no limit';
  if (typeof value === 'number') return value === 0 ? '0' : inWords(value);
  return value === undefined ? 'none' : `\`${value}\``;
}

test('the reference names each option in the order of the table, with its default', () => {
  const page = readFileSync(new URL('../../docs/reference.md', import.meta.url), 'utf8');
  const [, table] = /\| option \| default \| \|\n\|[- |]+\n(.*?)\n\n/s.exec(page)!;
  const rows = table!.split('\n').map((row) =>
    row
      .split('|')
      .slice(1, 3)
      .map((cell) => cell.trim()),
  );
  const { terms } = new LayeredOptions(traits, {});
  expect(rows).toEqual(NAMES.map((name) => [`\`${name}\``, written(terms[name], terms)]));
});

test.each(
  NAMES,
)('of two requests that differ in %s the engine sees a difference just where the table says so', (name) => {
  const usual = new LayeredOptions(traits, {}).terms;
  const other = new LayeredOptions(traits, { [name]: OTHER[name] }).terms;
  expect(other[name], 'the option has an effect').not.toEqual(usual[name]);
  expect(sameForEngine(usual, { ...usual })).toBe(true);
  expect(sameForEngine(usual, other)).toBe(OPTIONS[name].seen === undefined);
});

test('an engine sees that somebody waits or holds for a time at least, however short it is, and not for how long', () => {
  const [none, short, longer] = [0, 1, 2].map((ms) => new LayeredOptions(traits, { wait: ms, minHold: ms }).terms) as [
    Terms,
    Terms,
    Terms,
  ];
  expect(sameForEngine(none, { ...none, wait: short.wait })).toBe(false);
  expect(sameForEngine(none, { ...none, minHold: short.minHold })).toBe(false);
  expect(sameForEngine(short, longer)).toBe(true);
});

test('an engine sees the lease, the wait, for how long a key stays taken, and how seldom a waiter asks', () => {
  expect(NAMES.filter((name) => OPTIONS[name].seen)).toEqual(['wait', 'ttl', 'minHold', 'delay', 'spin']);
});

test('a leader, a tick and the command run take these options of a lock', () => {
  expect(Object.keys(sharedWith('leader'))).toEqual(['ttl', 'delay', 'notice', 'label']);
  expect(Object.keys(sharedWith('once'))).toEqual(['ttl', 'notice', 'signal', 'label']);
  expect(Object.keys(sharedWith('run'))).toEqual(['wait', 'ttl', 'minHold', 'delay']);
});

test.each([
  'leader',
  'once',
] as const)('%s takes those options of a lock that the table says, and no other', async (taker) => {
  await using locks = createLocks(memory());
  const taken = async (name: keyof LockOptions): Promise<boolean> => {
    const options = { [name]: OTHER[name] };
    try {
      if (taker === 'leader') locks.leader('name', options as object);
      else await locks.once('name', Date.now(), () => {}, options as object);
      return true;
    } catch (error) {
      expect(String(error)).toContain(`"${name}" is not one of the options of`);
      return false;
    }
  };
  const found: string[] = [];
  for (const name of NAMES) if (await taken(name)) found.push(name);
  expect(found).toEqual(Object.keys(sharedWith(taker)));
});
