import { expect, test } from 'vitest';
import { WaitingClaims } from '../../src/backends/shared/waiting-claims.ts';
import { claim } from './claim.ts';

test('whoever is watched is woken, and no longer once the watch has ended', async () => {
  const waiting = new WaitingClaims();
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
  const waiting = new WaitingClaims();
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
  const waiting = new WaitingClaims();
  const told: string[] = [];
  const first = waiting.watch(
    claim('a'),
    () => told.push('first woken'),
    () => told.push('first over'),
  );
  const second = waiting.watch(
    claim('a'),
    () => told.push('second woken'),
    () => told.push('second over'),
  );
  await first[Symbol.asyncDispose]();
  waiting.wakeAll();
  await second[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  expect(told).toEqual(['second woken', 'second over']);
  expect(waiting.size).toBe(0);
});

test('a claim whose turn came before its watch ended is told of no end', async () => {
  const waiting = new WaitingClaims();
  let over = 0;
  const watch = waiting.watch(
    claim('a'),
    () => {},
    () => over++,
  );
  waiting.delete('a');
  await watch[Symbol.asyncDispose]();
  expect(over).toBe(0);
  await waiting.watch(claim('b'), () => {})[Symbol.asyncDispose](); // one that wants to know of no end
});
