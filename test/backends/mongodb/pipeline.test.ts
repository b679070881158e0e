import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { idOf, type QueueRecord } from '../../../src/backends/mongodb/documents.ts';
import { attempting, leaving, renewing } from '../../../src/backends/mongodb/pipeline.ts';
import { admitted, EXCLUSIVE, SHARED } from '../../../src/core/contract/admission.ts';
import { type Claim, PLACE_TTL_MS } from '../../../src/core/contract/backend.ts';
import { apply } from '../../kit/mongodb-expressions.ts';

const claim = (id: string, wish: Partial<Claim> = {}): Claim => ({
  ...{ key: 'a', id, ...EXCLUSIVE, ttl: 30_000, queue: true, tokenCount: 1, within: 5_000, label: '$label' },
  ...wish,
});
const START = 1_800_000_000_000;
const at = (ms: number): Date => new Date(START + ms);
const EMPTY = { _id: idOf('a') };

/** The document after these steps, each a pipeline and when it runs. */
const steps = (...taken: [pipeline: object[], ms: number][]): QueueRecord =>
  taken.reduce((document, [pipeline, ms]) => apply(document, pipeline, at(ms)), EMPTY as object) as QueueRecord;
const ids = ({ queue }: QueueRecord): string[] => queue.map(({ id }) => id);
const expiry = (document: QueueRecord, id: string): number =>
  document.queue.find((place) => place.id === id)!.expires.getTime() - START;

describe('the pipeline of an attempt', () => {
  test('sends every text of the caller as data', () => {
    const sent = JSON.stringify(attempting(claim('id', { label: '$$ROOT' })));
    expect(sent).toContain('{"$literal":"$$ROOT"}');
    expect(steps([attempting(claim('a', { label: '$$ROOT' })), 0]).queue[0]!.label).toBe('$$ROOT');
  });

  test('joins at the end, once, with the time as token, or more than the last', () => {
    const two = steps([attempting(claim('a')), 0], [attempting(claim('b')), 0], [attempting(claim('a')), 1]);
    expect(ids(two)).toEqual(['a', 'b']);
    expect(two.queue.map(({ token }) => token)).toEqual([START * 1_000, START * 1_000 + 1]);
  });

  test('reserves a tokenCount, and takes a proposed token', () => {
    const spans = steps([attempting(claim('a', { tokenCount: 16 })), 0], [attempting(claim('b')), 0]);
    expect(Number(spans.queue[1]!.token) - Number(spans.queue[0]!.token)).toBe(16);
    const proposed = steps([attempting(claim('a', { minToken: BigInt(START) * 2_000n })), 0]);
    expect(Number(proposed.queue[0]!.token)).toBe(START * 2_000);
  });

  test('gives a holder its ttl, and a waiter no more than a place has', () => {
    const document = steps(
      [attempting(claim('a')), 0],
      [attempting(claim('b')), 0],
      [attempting(claim('c', { ttl: 9 })), 0],
    );
    expect(['a', 'b', 'c'].map((id) => expiry(document, id))).toEqual([30_000, PLACE_TTL_MS, 9]);
  });

  test('leaves nothing of a refused claim without queue, and of one that comes late', () => {
    const held: [object[], number] = [attempting(claim('a')), 0];
    expect(ids(steps(held, [attempting(claim('b', { queue: false })), 0]))).toEqual(['a']);
    expect(ids(steps([attempting(claim('b'), at(5)), 6]))).toEqual([]);
    expect(ids(steps([attempting(claim('b'), at(5)), 5]))).toEqual(['b']);
  });

  test('drops who gave no sign of life, to the millisecond', () => {
    const held: [object[], number] = [attempting(claim('a', { ttl: 100 })), 0];
    expect(ids(steps(held, [attempting(claim('b')), 99]))).toEqual(['a', 'b']);
    expect(ids(steps(held, [attempting(claim('b')), 100]))).toEqual(['b']);
  });

  test('is idle only after all leases, and after the time has overtaken its tokens', () => {
    const idle = (document: QueueRecord): number => (document as unknown as { idle: Date }).idle.getTime() - START;
    expect(idle(steps([attempting(claim('a')), 0]))).toBe(30_000);
    expect(idle(steps([attempting(claim('a', { minToken: BigInt(START + 90_000) * 1_000n })), 0]))).toBe(90_000);
    expect(idle(steps([attempting(claim('a')), 0], [leaving({ id: 'a' }), 7]))).toBe(7);
  });
});

describe('the other pipelines', () => {
  test('a renewal lengthens or shortens a hold, and revives nothing', () => {
    const held: [object[], number] = [attempting(claim('a')), 0];
    expect(expiry(steps(held, [renewing(claim('a', { ttl: 50_000 })), 10]), 'a')).toBe(50_010);
    expect(expiry(steps(held, [renewing(claim('a', { ttl: 5 })), 10]), 'a')).toBe(15);
    expect(ids(steps(held, [renewing(claim('a')), 30_000]))).toEqual([]);
  });

  test('one that was held up in a router never sets an expiry back, nor does a router whose clock is behind', () => {
    const held: [object[], number] = [attempting(claim('a')), 0];
    const kept: [object[], number] = [renewing(claim('a')), 20_000];
    expect(expiry(steps(held, kept, [renewing(claim('a')), 5_000]), 'a'), 'a renewal').toBe(50_000);
    expect(expiry(steps(held, kept, [attempting(claim('a')), 5_000]), 'a'), 'an attempt again').toBe(50_000);
    const gone = steps(held, [attempting(claim('b', { queue: false })), 31_000], [renewing(claim('a')), 5_000]);
    expect(ids(gone), 'who has expired by the later time').toEqual(['b']);
    expect(gone.now, 'the time of the key').toEqual(at(31_000));
  });

  test('an attempt again never shortens what was renewed, and a renewal that comes late changes nothing', () => {
    const longer: [object[], number][] = [
      [attempting(claim('a')), 0],
      [renewing(claim('a', { ttl: 90_000 })), 10],
    ];
    expect(expiry(steps(...longer, [attempting(claim('a')), 20]), 'a')).toBe(90_010);
    expect(expiry(steps(...longer, [renewing(claim('a'), at(19)), 20]), 'a')).toBe(90_010);
    expect(expiry(steps(...longer, [renewing(claim('a'), at(20)), 20]), 'a')).toBe(30_020);
  });

  test('a departure says whether it found something', () => {
    const held: [object[], number] = [attempting(claim('a')), 0];
    expect(steps(held, [leaving({ id: 'a' }), 1])).toMatchObject({ freed: true, queue: [] });
    expect(steps(held, [leaving({ id: 'b' }), 1])).toMatchObject({ freed: false });
    expect(steps(held, [leaving({ id: 'a' }), 30_000]), 'expired').toMatchObject({ freed: false });
    expect(ids(steps(held, [attempting(claim('b')), 0], [leaving({ id: 'a' }), 1]))).toEqual(['b']);
    expect(steps(held, [leaving({ token: BigInt(START) * 1_000n }), 1])).toMatchObject({ freed: true });
  });

  test('a document in another form is left exactly as it was', () => {
    const newer = { _id: idOf('a'), v: 2, queue: [{ id: 'x', expires: at(0) }], more: true };
    for (const pipeline of [attempting(claim('a')), renewing(claim('a')), leaving({ id: 'x' })]) {
      expect(apply(newer, pipeline, at(99))).toEqual(newer);
    }
  });

  test('admission agrees with the rule, whoever stands in line', () => {
    const of = fc.integer({ min: 1, max: 4 });
    const counted = of.chain((room) =>
      fc.record({ units: fc.integer({ min: 1, max: room }), capacity: fc.constant(room) }),
    );
    const lines = fc.array(fc.oneof(counted, fc.constant(SHARED), fc.constant(EXCLUSIVE)), {
      maxLength: 7,
      minLength: 1,
    });
    const agrees = fc.property(lines, (line) => {
      const claims = line.map((demand, index) => claim(String(index), demand));
      const joined = steps(...claims.map((each): [object[], number] => [attempting(each), 0]));
      const asked = claims.reduce((document, each) => apply(document, renewing(each), at(1)), joined as object);
      const held = (asked as QueueRecord).queue.filter(({ expires }) => expires.getTime() === START + 30_001);
      expect(held).toHaveLength(admitted(line));
      const last = claim('last', { ...SHARED, queue: false });
      const fits = admitted([...line, last]) > line.length;
      expect(ids(apply(joined, attempting(last), at(1)) as unknown as QueueRecord).includes('last')).toBe(fits);
    });
    fc.assert(agrees);
  });
});
