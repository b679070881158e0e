/** The queue that most engines apply: what holds after any steps, whichever engine takes them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EngineQueue } from '../../../src/backends/shared/queue.ts';
import { countedIn, type KeyRecord, recordWith } from '../../../src/backends/shared/record.ts';
import { claimsOf, EngineTime, jsonOf, TokenCounter } from '../../../src/backends/shared/stored-queue.ts';
import { ALL_UNITS, admitted, type Demand } from '../../../src/core/contract/admission.ts';
import { claim } from '../../core/claim.ts';

const units: fc.Arbitrary<Demand> = fc.oneof(
  fc.constant({ units: ALL_UNITS, capacity: ALL_UNITS }),
  fc.constant({ units: 1, capacity: ALL_UNITS }),
  fc
    .integer({ min: 1, max: 4 })
    .chain((capacity) => fc.record({ units: fc.integer({ min: 1, max: capacity }), capacity: fc.constant(capacity) })),
);
const ttl = fc.integer({ min: 1, max: 50 });
const step = fc.oneof(
  fc.record({
    do: fc.constant('join' as const),
    units,
    ttl,
    queue: fc.boolean(),
    tokenCount: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({ do: fc.constant('again' as const), which: fc.nat(), ttl }),
  fc.record({ do: fc.constant('renew' as const), which: fc.nat(), ttl }),
  fc.record({ do: fc.constant('release' as const), which: fc.nat() }),
  fc.record({ do: fc.constant('evict' as const), which: fc.nat() }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 30 }) }),
);

test.each([
  ['kept in memory', (queue: EngineQueue): EngineQueue => queue],
  [
    'stored after each step',
    (queue: EngineQueue, tokens: TokenCounter) => new EngineQueue(tokens, claimsOf(jsonOf(queue.claims))),
  ],
])('a queue, %s, admits by the rule, tells each claim once, and keeps no expired one', (_title, stored) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const tokens = new TokenCounter(0n);
      let queue = new EngineQueue(tokens);
      let [now, last] = [1, 0];
      const told = new Set<string>();
      for (const action of steps) {
        if (action.do === 'pass') now += action.ms;
        queue = stored(queue, tokens);
        const known = queue.admitted.length;
        queue.at(new EngineTime(now));
        const before = [...queue.claims];
        const mine = 'which' in action ? before[action.which % Math.max(1, before.length)] : undefined;
        if (action.do === 'join') {
          const id = `${++last}`;
          const highest = tokens.last;
          const answer = queue.attempt(claim(id, { ...action, ...action.units }));
          if (answer.granted) told.add(id);
          const joined = queue.find(id);
          expect(joined !== undefined).toBe(answer.granted || action.queue);
          if (joined) expect(joined.token).toBeGreaterThan(highest);
        } else if (mine && action.do === 'again') {
          const expires = mine.expires!;
          const answer = queue.attempt(claim(mine.id, { units: mine.units, capacity: mine.capacity, ttl: action.ttl }));
          expect(answer.granted).toBe(mine.held);
          expect(mine.expires, 'a repeated attempt does not make it expire sooner').toBeGreaterThanOrEqual(expires);
        } else if (mine && action.do === 'renew') {
          expect(queue.renew({ id: mine.id, ttl: action.ttl })).toEqual(mine.held ? { validFor: action.ttl } : 'gone');
          if (mine.held) expect(mine.expires).toBe(now + action.ttl);
        } else if (mine && action.do === 'release') expect(queue.release(mine)).toBe(true);
        else if (mine && action.do === 'evict') expect(queue.evict(({ token }) => token === mine.token)).toBe(mine);
        for (const { id } of queue.admitted.slice(known)) {
          expect(told, 'nobody is told twice').not.toContain(id);
          told.add(id);
        }

        const after = [...queue.claims];
        const inside = admitted(after);
        expect(after.map(({ held }) => held)).toEqual(after.map((_, at) => at < inside));
        expect(after.filter(({ held, id }) => held && !told.has(id))).toEqual([]);
        expect(after.filter(({ expires }) => expires! <= now)).toEqual([]);
        expect(queue.entries('key').map(({ token }) => token)).toEqual(after.map(({ token }) => token));
      }
    }),
    { numRuns: 300 },
  );
});

test('a hold that tells late of its begin changes nothing of a later hold, nor of a value that one stored', () => {
  const counting = { age: Number.POSITIVE_INFINITY, mark: 'm', counts: 1_000 };
  const begin = (record: KeyRecord | undefined, token: bigint) =>
    countedIn(record, claim('late'), counting, { granted: true, token, validFor: 30 }, 0, undefined);
  const later = begin(undefined, 7n).changed!;
  expect(begin(later, 5n)).toEqual({ attempt: { granted: true, token: 5n, validFor: 30, attempts: 1 } });
  expect(begin(later, 8n).changed).toMatchObject({ attempts: 2, begun: 8n });
  const stored = recordWith(9n, { text: 'x', ttl: 60 }, 0);
  expect(begin(stored, 8n).changed).toBeUndefined();
  expect(begin(stored, 10n).changed).toMatchObject({ attempts: 1, begun: 10n, token: 9n });
});
