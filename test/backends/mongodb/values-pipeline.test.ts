import { describe, expect, test } from 'vitest';
import { idOf, type QueueRecord } from '../../../src/backends/mongodb/documents.ts';
import { attempting, forgetting, leaving, renewing, storing } from '../../../src/backends/mongodb/pipeline.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Claim, ValueCondition } from '../../../src/core/contract/backend.ts';
import { apply } from '../../kit/mongodb-expressions.ts';

const claim = (id: string, wish: Partial<Claim> = {}): Claim => ({
  ...{ key: 'a', id, ...EXCLUSIVE, ttl: 30_000, queue: true, tokenCount: 1, within: 5_000, label: '' },
  ...wish,
});
const ANY: ValueCondition = { age: Number.POSITIVE_INFINITY, mark: '-', counts: 0 };
const START = 1_800_000_000_000;
const at = (ms: number): Date => new Date(START + ms);
type Step = [pipeline: object[], ms: number];

/** The document after these steps, each a pipeline and when it runs. */
const steps = (...taken: Step[]): QueueRecord =>
  taken.reduce((document, [pipeline, ms]) => apply(document, pipeline, at(ms)), {
    _id: idOf('a'),
  } as object) as QueueRecord;
const leave = (id: string, text = 'text', ttl = 1_000): object[] => storing(id, { text, ttl });
const asking = (one: Claim, accepts: ValueCondition, notAfter?: Date): object[] =>
  attempting({ ...one, accepts }, notAfter);
const held: Step = [attempting(claim('a')), 0];
const left: Step[] = [held, [leave('a'), 10]];

describe('the pipelines of values', () => {
  test('send every text of the caller as data', () => {
    const document = steps([asking(claim('a'), { ...ANY, mark: '$$NOW', counts: 1_000 }), 0]);
    expect(document.attempts?.mark).toBe('$$NOW');
    expect(steps(held, [leave('a', '$$ROOT'), 1]).value?.text).toBe('$$ROOT');
  });

  test('the step that frees stores the value of a holder, and none of who waits, has left or has expired', () => {
    expect(steps(...left)).toMatchObject({
      freed: true,
      queue: [],
      value: { text: 'text', at: at(10), until: at(1_010) },
    });
    const waits = steps(held, [attempting(claim('b')), 1], [leave('b'), 2]);
    expect(waits).toMatchObject({ freed: false, queue: [{ id: 'a' }] });
    expect(waits.value).toBeUndefined();
    expect(steps(...left, [leave('a', 'again'), 11])).toMatchObject({ freed: false, value: { text: 'text' } });
    expect(steps(held, [leave('a'), 30_000]).value).toBeUndefined();
  });

  test('every other step keeps them until they are over, and the index removes the document no sooner', () => {
    const others: Step[] = [
      [attempting(claim('b')), 20],
      [renewing(claim('b')), 30],
      [leaving({ id: 'b' }), 40],
    ];
    const kept = steps(...left, ...others) as QueueRecord & { readonly idle: Date };
    expect(kept).toMatchObject({ queue: [], value: { text: 'text' }, idle: at(1_010) });
    expect(steps(...left, [attempting(claim('b')), 1_010]).value).toBeUndefined();
  });

  test('a claim that they answer leaves its place, and one for which they are too old does not', () => {
    const waiting: Step[] = [held, [asking(claim('b'), ANY), 1], [leave('a'), 10]];
    expect(steps(...waiting, [asking(claim('b'), ANY), 20])).toMatchObject({ queue: [] });
    expect(steps(...waiting, [asking(claim('b'), { ...ANY, age: 10 }), 20])).toMatchObject({ queue: [] });
    expect(steps(...waiting, [asking(claim('b'), { ...ANY, age: 9 }), 20])).toMatchObject({ queue: [{ id: 'b' }] });
    expect(steps(...waiting, [asking(claim('b'), ANY, at(19)), 20]), 'too late').toMatchObject({
      queue: [{ id: 'b' }],
    });
  });

  test('a hold counts once, as long as nothing is left and the time of the count is not over', () => {
    const counted: ValueCondition = { ...ANY, mark: 'm', counts: 1_000 };
    const begin = (id: string, ms: number): Step => [asking(claim(id, { ttl: 100 }), counted), ms];
    expect(steps(begin('a', 0), begin('a', 1)).attempts).toMatchObject({ count: 1, mark: 'm', counts: at(1_100) });
    expect(steps(begin('a', 0), begin('b', 50)).attempts, 'b waits').toMatchObject({ count: 1 });
    expect(steps(begin('a', 0), begin('b', 100)).attempts, 'a has expired').toMatchObject({ count: 2 });
    expect(steps(begin('a', 0), begin('b', 1_100)).attempts, 'it is over').toMatchObject({ count: 1 });
    expect(steps(begin('a', 0), [leave('a'), 1]).attempts).toBeUndefined();
  });

  test('forgetting removes both, and says whether there was anything', () => {
    expect(steps(...left, [forgetting(), 11])).toMatchObject({ freed: true });
    expect(steps(...left, [forgetting(), 11]).value).toBeUndefined();
    expect(steps(...left, [forgetting(), 1_010])).toMatchObject({ freed: false });
    expect(steps(held, [forgetting(), 1])).toMatchObject({ freed: false, queue: [{ id: 'a' }] });
  });

  test('a document in another form is left exactly as it was', () => {
    const newer = { _id: idOf('a'), v: 2, queue: [{ id: 'a', expires: at(0) }], more: true };
    for (const pipeline of [asking(claim('a'), ANY), leave('a'), forgetting()])
      expect(apply(newer, pipeline, at(99))).toEqual(newer);
  });
});
