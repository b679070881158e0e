import { expect, test } from 'vitest';
import { nextBy } from '../../../src/backends/quorum/turn-hint.ts';
import { unhandledIn } from './nodes.ts';
import { noted } from './noted.ts';

const a = (waited: number) => ({ id: 'a', waited });
const b = { id: 'b', waited: 90 };

test.each([
  ['nobody is heard yet', [], 'open'],
  ['a majority names nobody', [undefined, undefined, undefined], undefined],
  ['a majority names one, with the longest it has waited', [a(20), undefined, a(30), a(20)], a(30)],
  ['a minority names one, and the rest nobody', [a(20), undefined, a(20), undefined, undefined], undefined],
  ['the rest may still name it', [a(20), undefined, undefined], 'open'],
  ['two are named, and none by a majority', [a(20), b, a(20), b, undefined], undefined],
] as const)('of five nodes, where %s', (_, found, named) => {
  expect(nextBy(found, 5, 3)).toEqual(named);
});

test('a note is of its key, and nobody is next at another', async () => {
  const { note, during, settled } = noted();
  note.write('k', { id: 'process', waited: 20.4 }, 100);
  await settled();
  expect(await during(note.read('k'))).toEqual({ id: 'process', waited: 20 });
  expect(await during(note.read('other'))).toBeUndefined();
  expect(await during(Promise.all([note.names('k', 'process'), note.names('k', 'another')]))).toEqual([true, false]);
});

test('a note of another version names nobody', async () => {
  const { note, during } = noted({ read: async () => 'of another version' });
  expect(await during(note.read('k'))).toBeUndefined();
  expect(await during(note.names('k', 'of'))).toBe(false);
});

test('a hint of a user’s backend that is no text names no process, and every read of it ends', async () => {
  const { note, during } = noted({ read: async () => Object.create(null) });
  const unhandled = await unhandledIn(async () => {
    expect(await during(note.names('k', 'process'))).toBe(false);
    expect(await during(note.read('k'))).toBeUndefined();
  });
  expect(unhandled).toEqual([]);
});

test('where no node can read notes nobody is next, and that is known at once', async () => {
  const { note, during } = noted({ read: () => Promise.reject(new Error('cut')) });
  expect(await during(note.read('k'))).toBeUndefined();
  expect(await during(note.names('k', 'process'))).toBe(false);
});
