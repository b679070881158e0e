import { expect, test } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { memory } from '../../../src/backends/memory.ts';
import { ServerIdentity } from '../../../src/backends/quorum/server-identity.ts';
import { meaning } from '../../../src/backends/redis/errors.ts';
import type { Run } from '../../../src/core/contract/backend.ts';
import { LockError } from '../../../src/core/contract/errors.ts';

/** The nodes of one quorum, each with what it says of its run. */
function scene(...names: (string | undefined)[]) {
  const all: ServerIdentity[] = [];
  for (const [i, name] of names.entries())
    new ServerIdentity(
      around(memory(), { incarnation: name === undefined ? (undefined as never) : () => name }),
      `node ${i + 1}`,
      all,
    );
  return all as [ServerIdentity, ...ServerIdentity[]];
}

/** Whether a node that says this finds a run that it did not know. */
function isNew(it: ServerIdentity, name: string | Run, now: number): boolean {
  const before = it.run;
  it.recognise(name, now);
  return it.run !== before;
}

test('one that names no run is not asked', () => {
  const [named, nameless] = scene('a', undefined);
  expect([named.nameless, nameless!.nameless]).toEqual([false, true]);
  expect([named.ask(), nameless!.ask()]).toEqual(['a', undefined]);
});

test('without the right to ask for its run it is one that names none; any other failure is one', async () => {
  const [it] = scene('a');
  await expect(it.nameFrom(Promise.reject(new Error('connection lost')))).rejects.toThrow('connection lost');
  expect(it.nameless).toBe(false);
  expect(await it.nameFrom(Promise.resolve('a'))).toBe('a');
  expect(await it.nameFrom(Promise.reject(new LockError('LOCK_UNSUPPORTED', 'no right')))).toBeUndefined();
  expect(it.nameless).toBe(true);
});

test.each([
  'CLOSED the client is closed',
  'NOAUTH Authentication required.',
  'WRONGPASS invalid username-password pair or user is disabled.',
])('a refusal that the owner of the client may end (%s) is no missing right: the next vote asks for the run again', async (why) => {
  const [it] = scene('a');
  const refused = Promise.reject(meaning(new Error(why), 'ask for INFO server'));
  await expect(it.nameFrom(refused), 'the vote fails').rejects.toThrow(why);
  expect(it.nameless, 'the node counts as one that never names its run').toBe(false);
});

test('a run is another one when it has another name, and begins its age before it is known', () => {
  const [it] = scene('a');
  expect(it.restarted, 'before any is known').toBe(false);
  expect(isNew(it, { id: 'a', age: 300 }, 1_000)).toBe(true);
  expect([it.run, it.since, it.restarted]).toEqual([{ id: 'a', age: 300 }, 700, false]);
  expect(isNew(it, { id: 'a', age: 900 }, 2_000), 'the same').toBe(false);
  expect([it.since, it.restarted]).toEqual([700, false]);
  expect(isNew(it, { id: 'b', age: 400 }, 3_000), 'another').toBe(true);
  expect([it.run, it.since, it.restarted]).toEqual([{ id: 'b', age: 400 }, 2_600, true]);
  it.recognise('b', 4_000);
  expect(it.restarted, 'for ever').toBe(true);
});

test('a run without an age may have begun just now', () => {
  const [it] = scene('a');
  it.recognise('a', 1_000);
  expect([it.run, it.since]).toEqual([{ id: 'a' }, 1_000]);
});

test.each([
  [
    'one that ran already while the other answered is another server: since when it is there nobody knows',
    1_001,
    2_000,
  ],
  ['one that began when the other had answered last is that one, started anew', 1_000, 1_000],
])('%s', (_, age, since) => {
  const [it] = scene('a');
  it.recognise({ id: 'a', age: 500 }, 1_000);
  it.recognise({ id: 'b', age }, 2_000);
  expect(it.since).toBe(since);
});

test('of the first run its age is believed', () => {
  const [it] = scene('a');
  it.recognise({ id: 'a', age: 5_000 }, 0);
  expect(it.since).toBe(-5_000);
});

test('what was told last is surely the same run, and what is asked for is not', () => {
  const [it] = scene('a');
  expect(it.isSame('a'), 'before it is known').toBe(false);
  const run: Run = { id: 'a' };
  it.recognise(run, 0);
  expect([run, { id: 'a' }, Promise.resolve(run)].map((told) => it.isSame(told))).toEqual([true, false, false]);
});

test('a node that has never been one of its own is misuse, until it is another server', () => {
  const [one, other] = scene('a', 'a');
  one.recognise('a', 0);
  expect(() => other!.recognise('a', 0)).toThrow(
    expect.objectContaining({ code: 'LOCK_INVALID', message: expect.stringMatching(/^node 1 and node 2 of a quorum/) }),
  );
  expect([other!.twin, other!.isSame('a')]).toEqual([one, false]);
  expect(isNew(other!, 'b', 0)).toBe(true);
  expect([other!.twin, other!.isSame('b')]).toEqual([undefined, true]);
});

test('a node that is led to the server of another for a moment does not count for as long', () => {
  const [one, other] = scene('a', 'b');
  one.recognise('a', 0);
  other!.recognise('b', 0);
  const led = (): unknown => other!.recognise('a', 0);
  expect(led).toThrow(/^is the same server as node 1 for now$/);
  expect(led).not.toThrow(LockError);
  expect([other!.twin, other!.isSame('b'), other!.isSame('a')], 'asked again').toEqual([undefined, false, false]);
  expect(isNew(other!, 'b', 0), 'the run that was known').toBe(false);
  expect(other!.isSame('b')).toBe(true);
});
