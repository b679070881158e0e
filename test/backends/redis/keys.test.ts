import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nameOf, patternOf } from '../../../src/backends/redis/inspect.ts';
import { lockOf } from '../../../src/backends/redis/server.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';
import { describeOn } from '../../kit/suite.ts';
import { granted, wish } from './scene.ts';
import { sharedFleet } from './shared-fleet.ts';

const PREFIX = 'holdfast';
/** Names rich in what keys, hash tags, globs and paths are made of. */
const name = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  fc.string({ unit: fc.constantFrom(...'{}%:*?[]^-\\ab\0\n25BD7'), minLength: 1, maxLength: 12 }),
);

test('a name is found again from its key, so two names never meet', () => {
  fc.assert(fc.property(name, (text) => nameOf(PREFIX, lockOf(PREFIX, text)) === text));
});

test('the key of a lock has a hash tag that is the whole name', () => {
  fc.assert(
    fc.property(name, (text) => {
      const key = lockOf(PREFIX, text);
      const tag = /\{(.*?)\}/s.exec(key)?.[1];
      return tag !== '' && tag === key.slice(PREFIX.length + 2, -1);
    }),
  );
});

describeOn('redis', 'hostile names on a server', () => {
  const here = sharedFleet();

  test('each name is a lock of its own, found by its prefix, and nothing outside the prefix is touched', async () => {
    const client = here.fleet.ioredis();
    const backend = here.fleet.over(client);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { minLength: 2, maxLength: 6 }), async (names) => {
        await client.flushall();
        for (const key of names) granted(await backend.attempt(wish(key)));
        for (const key of names) {
          expect((await backend.attempt(wish(key, { queue: false }))).granted).toBe(false);
          const seen: string[] = [];
          for await (const standing of backend.inspect!(key)) seen.push(standing.key);
          expect(seen.sort()).toEqual(names.filter((other) => other.startsWith(key)).sort());
        }
        expect((await client.keys('*')).every((key) => key.startsWith(`${PREFIX}:{`))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('an id that another one begins with takes, renews and frees nothing of it', async () => {
    const backend = await here.fleet.backend();
    const short = (key: string): Claim => wish(key, { id: 'user-1', queue: false });
    const waiter = wish('line', { id: 'user-11' });
    for (const key of ['alone', 'line']) granted(await backend.attempt(wish(key, { id: 'user-10' })));
    await backend.attempt(waiter);
    for (const claim of [short('alone'), short('line')]) {
      expect((await backend.attempt(claim)).granted).toBe(false);
      expect(await backend.renew([claim])).toEqual(['gone']);
      expect((await backend.release(claim)).freed).toBe(false);
      expect((await backend.release(claim, short(claim.key))).next).toMatchObject({ granted: false });
    }
    expect((await backend.attempt(waiter)).granted).toBe(false);
  });

  test('a label is shown as it was given, also in a line', async () => {
    const backend = await here.fleet.backend();
    const label = ' a\0b\n%s 𝕏 - ';
    const claims = [wish('labelled', { label }), wish('labelled', { label })];
    for (const claim of claims) await backend.attempt(claim);
    const seen: string[] = [];
    for await (const standing of backend.inspect!('labelled')) seen.push(standing.label);
    expect(seen).toEqual([label, label]);
  });

  test('a pattern finds what starts with it and nothing else', async () => {
    const client = here.fleet.ioredis();
    await fc.assert(
      fc.asyncProperty(name, name, async (start, other) => {
        await client.flushall();
        for (const text of [start, other, start + other]) await client.set(lockOf(PREFIX, text), '');
        const found = (await client.keys(patternOf(PREFIX, start))).map((key) => nameOf(PREFIX, key));
        const expected = new Set([start, other, start + other].filter((text) => text.startsWith(start)));
        expect(new Set(found)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});
