import { expect, test } from 'vitest';
import type { Event } from '../history.ts';
import { Coverage } from './coverage.ts';
import { EXCLUDED, type Feature, PAIRS } from './features.ts';

const asked = (request: number, by: string, features: readonly Feature[], keys = ['k']): Event => ({
  ...{ what: 'request', at: 0, request, by, keys, primitive: 'mutex' },
  ...{ features, wait: Number.POSITIVE_INFINITY, ttl: 600 },
});
const done = (request: number): Event => ({ what: 'done', at: 0, request });

function drawnIn(...events: Event[]): string[] {
  const coverage = new Coverage();
  const scene = { wakes: 'buffered', tokenBlocks: true, calm: true, wakesLost: false, keptBy: 'lease' } as const;
  coverage.add('buffered', { seed: 1, scene, events });
  return coverage.names;
}

test('a pair is drawn in one request, or in two for one key that are there at one time', () => {
  expect(drawnIn(asked(1, 'p0', ['delay', 'close']), done(1))).toEqual(['mutex: delay × close, together, buffered']);
  expect(drawnIn(asked(1, 'p0', ['close']), asked(2, 'p0', ['delay']), done(1), done(2))).toEqual([
    'mutex: delay × close, beside, buffered',
  ]);
  expect(drawnIn(asked(1, 'p0', ['close']), asked(2, 'p1', ['delay']))).toEqual([
    'mutex: delay × close, across, buffered',
  ]);
});

test('one after the other, or for two keys, is no pair', () => {
  expect(drawnIn(asked(1, 'p0', ['close']), done(1), asked(2, 'p0', ['delay']), done(2))).toEqual([]);
  expect(drawnIn(asked(1, 'p0', ['close']), asked(2, 'p0', ['delay'], ['s']))).toEqual([]);
});

test('every option is drawn with a lock of every kind, or says why not', () => {
  const named = new Set(PAIRS.flatMap(({ primitive, one, other }) => [`${primitive} ${one}`, `${primitive} ${other}`]));
  expect(named.has('mutex close') && named.has('semaphore permits')).toBe(true);
  expect(named.has('mutex permits')).toBe(false);
  expect(EXCLUDED).toContain('mutex with permits: only a semaphore has permits');
});
