/** What a process knows of a claim from what it has sent and heard: since when the engine may have it, and whether the engine is in trouble. */
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import type { Claim, Grant, Refusal } from '../../src/core/contract/backend.ts';
import { SentRecord } from '../../src/core/queue/claim-step.ts';
import { claim } from './claim.ts';

const GRANT: Grant = { granted: true, token: 7n, validFor: 30_000 };
const REFUSED: Refusal = { granted: false };
const LATE: Refusal = { granted: false, late: true };
/** A value that came by itself, as an attempt would have returned it. */
const VALUE: Refusal = { granted: false, value: { text: 'done', token: 1n, age: 0, validFor: 1_000 } };
const CUT = new Error('cut');

const recordOf = (wish: Partial<Claim> = {}, spinBound = 0): SentRecord =>
  new SentRecord(claim('ours', { ttl: 30_000, within: 1_000, ...wish }), spinBound, undefined);

test('a claim that asked several times without an answer is silent since it asked first', () => {
  const record = recordOf();
  record.noteSent(5);
  record.noteSent(50);
  expect(record.silence(4)).toBeUndefined();
  expect(record.silence(5)).toMatchObject({ message: 'no request was answered so far' });
});

test('a grant that comes by itself counts from the last answer, not from a later request that came too late', () => {
  const record = recordOf();
  record.noteSent(1);
  record.receive(REFUSED, undefined, 2);
  record.noteSent(100);
  record.receive(LATE, undefined, 101);
  record.receive(VALUE, undefined, 102);
  expect(record.receive(undefined, GRANT, 103)?.sent).toBe(1);
});

test('a value that comes by itself after a request that failed does not end the trouble of the engine', () => {
  const record = recordOf();
  record.noteSent(5);
  record.noteFailure(CUT, 5, 6);
  record.receive(VALUE, undefined, 7);
  expect(record.outage?.last).toBe(CUT);
});

test.each<[string, Partial<Claim>, number, number]>([
  ['the pause of a claim without a place, up to the bound of its spin', { queue: false }, 8_000, 0],
  ['the pause of a claim with a place, up to a sign of life of it', { queue: true }, 8_000, 8_000 - 2_000 - 50],
  ['the pause of a claim without a place and with a short spin', { queue: false }, 100, 8_000 - 2_000 - 50],
])('in an outage %s is no standstill of the process', (_, wish, spinBound, stoodStill) => {
  const record = recordOf(wish, spinBound);
  const first = record.noteFailure(CUT, 0, 0);
  expect(first.limit(0)).toBe(10_000);
  record.receive(undefined, undefined, 0);
  expect(record.noteFailure(CUT, 8_000, 8_000).limit(0)).toBe(10_000 + stoodStill);
});

test('in an outage the time in which the process stood still right after a failure does not count', () => {
  const record = recordOf();
  record.noteFailure(CUT, 0, 0);
  expect(record.noteFailure(CUT, 60_000, 60_000).limit(0)).toBe(10_000 + 60_000 - 2_000 - 50);
});

test.each<[string, Refusal | undefined]>([
  ['did not attempt a claim', undefined],
  ['found a claim too late', LATE],
])('an engine that %s with a release is asked for it again, and is in no trouble', async (_, attempt) => {
  const record = recordOf();
  expect(await record.answerOf({ sent: 5, attempt: Promise.resolve(attempt) }, manualClock())).toBeUndefined();
  expect(record.outage).toBeUndefined();
});
