import { expect, test } from 'vitest';
import { NOTHING_KNOWN, type Received, step } from '../../src/core/queue/claim-step.ts';
import type { LocalGrant } from '../../src/core/queue/hold-timing.ts';

const NOTHING: Received = { attempt: undefined, grant: undefined, settled: false };
const NOW = 10_000;

function granted(grant: Partial<LocalGrant> = {}): Partial<Received> {
  const counted = { token: 1n, sent: NOW - 100, since: NOW, validFor: 1_000, ...grant };
  return { attempt: { granted: true, token: 1n, validFor: 1_000 }, grant: counted };
}

const refused = (ahead?: number): Partial<Received> => ({
  attempt: { granted: false, ...(ahead !== undefined && { ahead }) },
});

test.each<[string, Partial<Received>, { wait?: number; delay?: number }, string]>([
  ['a grant in time', granted(), {}, 'keep'],
  ['a grant that came by itself after a refusal', { ...refused(), grant: granted().grant }, {}, 'keep'],
  ['a grant whose answer took longer than it lasts', granted({ sent: NOW - 1_000 }), {}, 'restart'],
  ['a grant of which its delay leaves nothing', granted(), { delay: 950 }, 'restart'],
  ['a grant that the engine has ended since', granted({ lost: AbortSignal.abort() }), {}, 'restart'],
  ['a refusal', refused(), {}, 'wait'],
  ['a refusal of a caller that does not wait', refused(), { wait: 0 }, 'leave'],
  ['a refusal that says that it came too late', { attempt: { granted: false, late: true } }, {}, 'ask'],
  ['a late refusal of a caller that does not wait', { attempt: { granted: false, late: true } }, { wait: 0 }, 'ask'],
  ['no answer', {}, {}, 'pause'],
  ['no answer, while a grant came by itself', { grant: granted().grant }, {}, 'keep'],
  ['a value that does as well as the hold', { ...refused(), settled: true }, {}, 'leave'],
  ['a value beside a grant', { ...granted(), settled: true }, {}, 'leave'],
])('%s: the claim decides', (_, received, terms, act) => {
  const decided = step(NOTHING_KNOWN, { ...NOTHING, ...received }, { wait: 1_000, delay: 0, ...terms }, NOW);
  expect(decided.act).toBe(act);
});

test('pauses grow with each answer, and begin again when the queue before the claim gets shorter', () => {
  let known = NOTHING_KNOWN;
  const pauses = [5, 5, undefined, 5, 4, 4, 6, 5].map((ahead) => {
    known = step(known, { ...NOTHING, ...refused(ahead) }, { wait: 1, delay: 0 }, NOW).known;
    return known.pauses;
  });
  expect(pauses).toEqual([1, 2, 3, 1, 1, 2, 3, 1]);
  expect(step(known, NOTHING, { wait: 1, delay: 0 }, NOW).known.pauses, 'without an answer').toBe(2);
});

test('only a claim that was refused knows that others want the key', () => {
  const of = (received: Partial<Received>) =>
    step(NOTHING_KNOWN, { ...NOTHING, ...received }, { wait: 1, delay: 0 }, NOW).known.contended;
  expect([of({}), of(granted()), of(refused())]).toEqual([false, false, true]);
});
