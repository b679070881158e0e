import { describe, expect, test } from 'vitest';
import { BufferedClaims } from '../../src/backends/shared/waiting-claims.ts';
import { systemClock } from '../../src/core/contract/clock.ts';
import { claim } from './claim.ts';

test('whoever is watched is woken, and no longer once the watch has ended', async () => {
  const waiting = new BufferedClaims(systemClock);
  const woken: string[] = [];
  const watches = ['a', 'b'].map((id) => waiting.watch(claim(id), () => woken.push(id)));
  expect(waiting.get('a')!.claim.id).toBe('a');
  waiting.wakeAll();
  expect(woken).toEqual(['a', 'b']);
  await watches[0]![Symbol.asyncDispose]();
  waiting.wakeAll();
  expect(woken).toEqual(['a', 'b', 'b']);
});

test('a watch that ends while all are woken keeps none of the others from it', () => {
  const waiting = new BufferedClaims(systemClock);
  const woken: string[] = [];
  for (const id of ['a', 'b', 'c'])
    waiting.watch(claim(id), () => {
      woken.push(id);
      waiting.delete('b');
    });
  waiting.wakeAll();
  expect(woken).toContain('c');
});

test('of two watches of a claim the later one counts, and the end of the first ends nothing', async () => {
  const waiting = new BufferedClaims(systemClock);
  const told: string[] = [];
  const first = waiting.watch(
    claim('a'),
    () => told.push('first woken'),
    () => void told.push('first over'),
  );
  const second = waiting.watch(
    claim('a'),
    () => told.push('second woken'),
    () => void told.push('second over'),
  );
  await first[Symbol.asyncDispose]();
  waiting.wakeAll();
  await second[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  expect(told).toEqual(['second woken', 'second over']);
  expect(waiting.size).toBe(0);
});

test('a claim whose turn came before its watch ended is told of no end', async () => {
  const waiting = new BufferedClaims(systemClock);
  let over = 0;
  const watch = waiting.watch(
    claim('a'),
    () => {},
    () => void over++,
  );
  waiting.delete('a');
  await watch[Symbol.asyncDispose]();
  expect(over).toBe(0);
  await waiting.watch(claim('b'), () => {})[Symbol.asyncDispose](); // one that wants to know of no end
});

test('a value wakes the claims of its key that take one, and no others', () => {
  const waiting = new BufferedClaims(systemClock);
  const woken: string[] = [];
  const accepts = { age: 1_000, mark: '-', counts: 0 };
  for (const [id, wish] of [
    ['a', { accepts }],
    ['for the lock', {}],
    ['of another key', { accepts, key: 'other' }],
    ['b', { accepts }],
  ] as const)
    waiting.watch(claim(id, wish), () => woken.push(id));
  waiting.wakeAnswerable('key');
  expect(woken).toEqual(['a', 'b']);
});

test('where only some claims may have missed something, only these are woken', () => {
  const waiting = new BufferedClaims(systemClock);
  const woken: string[] = [];
  for (const key of ['here', 'there']) waiting.watch(claim(key, { key }), () => woken.push(key));
  waiting.wakeAll(({ key }) => key === 'there');
  expect(woken).toEqual(['there']);
});

test('a watch of a claim that was sent before ends like any other, and its end can be waited for', async () => {
  const waiting = new BufferedClaims(systemClock);
  const watch = waiting.watchSince(claim('a'), () => {}, 5);
  expect(waiting.size).toBe(1);
  await expect(watch[Symbol.asyncDispose]()).resolves.toBeUndefined();
  expect(waiting.size).toBe(0);
});

describe('a claim whose watch begins only when its attempt is answered', () => {
  const missing = {
    'a message for it': (waiting: BufferedClaims) => void waiting.addressee('a'),
    'words for its key': (waiting: BufferedClaims) => waiting.wakeAnswerable('key'),
    'a time without a connection': (waiting: BufferedClaims) => waiting.wakeAll(),
  };
  for (const [what, miss] of Object.entries(missing))
    test(`is woken at once if it missed ${what}, and not for what came before its attempt`, () => {
      let now = 1_000;
      const waiting = new BufferedClaims({ now: () => now });
      const woken: number[] = [];
      const watch = (age?: number): void => void waiting.watchSince(claim('a'), () => woken.push(now), age);
      watch(1_000);
      expect(woken, 'nothing was told').toEqual([]);
      waiting.delete('a');
      miss(waiting);
      now += 10;
      watch(9);
      watch();
      expect(woken, 'it was sent after that').toEqual([]);
      watch(10);
      expect(woken).toEqual([now]);
    });

  test('has missed nothing when a message comes for a claim that is watched', () => {
    const waiting = new BufferedClaims({ now: () => 5 });
    waiting.watch(claim('a'), () => {});
    expect(waiting.addressee('a')?.claim.id).toBe('a');
    const woken: string[] = [];
    waiting.watchSince(claim('b'), () => woken.push('b'), 5);
    expect(woken).toEqual([]);
  });
});
