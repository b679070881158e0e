import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { KeyedSerializer } from '../../src/core/contract/promises.ts';

/** Calls that end when they are told, and which of them have begun. */
function scene() {
  const serializer = new KeyedSerializer();
  const begun: string[] = [];
  const call = (id: string, name: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const done = serializer.take(id, () => {
      begun.push(name);
      return promise;
    });
    done.catch(() => {});
    return { done, end: () => resolve(name), fail: () => reject(new Error(name)) };
  };
  return { begun, call };
}

test('calls for one thing begin one after the other, also behind one that failed, and none overtakes another', async () => {
  const { begun, call } = scene();
  const first = call('a', 'first');
  const second = call('a', 'second');
  expect(begun).toEqual(['first']);
  first.fail();
  await turn();
  const third = call('a', 'third');
  await turn();
  expect(begun, 'the second is under way').toEqual(['first', 'second']);
  second.end();
  await turn();
  expect(begun).toEqual(['first', 'second', 'third']);
  third.end();
  await expect(first.done).rejects.toThrow('first');
  expect(await Promise.all([second.done, third.done])).toEqual(['second', 'third']);
});

test('calls for different things do not wait for each other', () => {
  const { begun, call } = scene();
  call('a', 'one');
  call('b', 'other');
  expect(begun).toEqual(['one', 'other']);
});

test('what is over is forgotten: the next call begins at once', async () => {
  const { begun, call } = scene();
  for (const end of ['end', 'fail'] as const) {
    call('a', end)[end]();
    await turn();
    expect(begun.splice(0)).toEqual([end]);
  }
  call('a', 'next');
  expect(begun).toEqual(['next']);
});

test('a serializer knows for what a call is under way or waits, and forgets it with the last one', async () => {
  const serializer = new KeyedSerializer();
  const ends: (() => void)[] = [];
  const call = () => serializer.take('a', () => new Promise<void>((resolve) => void ends.push(resolve)));
  expect(serializer.has('a')).toBe(false);
  const calls = [call(), call()];
  expect([serializer.has('a'), serializer.has('b')]).toEqual([true, false]);
  ends.shift()!();
  await turn();
  expect(serializer.has('a'), 'while the second call is under way').toBe(true);
  ends.shift()!();
  await Promise.all(calls);
  await turn();
  expect(serializer.has('a')).toBe(false);
});
