import { expect, test } from 'vitest';
import { nextBy } from '../../../src/backends/quorum/next-note.ts';

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
