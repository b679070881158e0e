/** The rows of the file engine are held against the queue that is read as a whole, step by step. */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FileClaims } from '../../../src/backends/file/claims.ts';
import { schema } from '../../../src/backends/file/sql.generated.ts';
import { prepare, type Row } from '../../../src/backends/file/statements.ts';
import { EngineQueue } from '../../../src/backends/shared/queue.ts';
import { EngineTime, TokenCounter } from '../../../src/backends/shared/stored-queue.ts';
import { ALL_UNITS, type Units } from '../../../src/core/contract/admission.ts';
import type { Attempt } from '../../../src/core/contract/backend.ts';
import { claim } from '../../core/claim.ts';

const NAME = Buffer.from('holdfast/k');

const units: fc.Arbitrary<Units> = fc.oneof(
  fc.constant({ units: ALL_UNITS, capacity: ALL_UNITS }),
  fc.constant({ units: 1, capacity: ALL_UNITS }),
  fc
    .integer({ min: 1, max: 4 })
    .chain((capacity) => fc.record({ units: fc.integer({ min: 1, max: capacity }), capacity: fc.constant(capacity) })),
);
const ttl = fc.integer({ min: 1, max: 50 });
const step = fc.oneof(
  fc.record({ do: fc.constant('join' as const), units, ttl, queue: fc.boolean() }),
  fc.record({ do: fc.constant('again' as const), which: fc.nat(), ttl, queue: fc.boolean() }),
  fc.record({ do: fc.constant('renew' as const), which: fc.nat(), ttl }),
  fc.record({ do: fc.constant('release' as const), which: fc.nat() }),
  fc.record({ do: fc.constant('evict' as const), which: fc.nat() }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 30 }) }),
);

const ONE: Units = { units: 1, capacity: 1 };
/** The second expires sooner once it holds than the sign of life that it gave while it waited would have had it. */
const ADMITTED_TO_LESS: ReturnType<typeof step.generate>['value'][] = [
  { do: 'join', units: ONE, ttl: 3, queue: true },
  { do: 'join', units: ONE, ttl: 1, queue: true },
  { do: 'again', which: 1, ttl: 3, queue: true },
  { do: 'pass', ms: 1 },
  { do: 'release', which: 0 },
];

/** Rows tell only when the first claim of all expires, and not how many are ahead. */
const told = (answer: Attempt): object => (answer.granted ? answer : { granted: false });

test('rows come to what the pure queue does, and the tally on the head is what counting the queue gives', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const db = new DatabaseSync(':memory:');
      db.exec(schema);
      const sql = prepare(db);
      const [tokens, pureTokens] = [new TokenCounter(0n), new TokenCounter(0n)];
      const pure = new EngineQueue(pureTokens);
      let [now, last] = [1, 0];
      for (const action of steps) {
        if (action.do === 'pass') now += action.ms;
        const time = new EngineTime(now);
        const rows = new EngineQueue(tokens, {}, new FileClaims(sql, NAME)).at(time);
        pure.at(time);
        const all = [...pure.claims];
        const mine = 'which' in action ? all[action.which % Math.max(1, all.length)] : undefined;
        const both = <T>(act: (queue: EngineQueue) => T): T => {
          const expected = act(pure);
          expect(act(rows)).toEqual(expected);
          return expected;
        };
        if (action.do === 'join') {
          const { queue, ttl } = action;
          const newcomer = claim(`${++last}`, { ...action.units, ttl, queue });
          both((queue) => told(queue.attempt(newcomer)));
        } else if (mine && action.do === 'again') {
          const { id, units, capacity } = mine;
          const again = claim(id, { units, capacity, ttl: action.ttl, queue: action.queue });
          both((queue) => told(queue.attempt(again)));
        } else if (mine && action.do === 'renew') both((queue) => queue.renew({ id: mine.id, ttl: action.ttl }));
        else if (mine && action.do === 'release') both((queue) => queue.release({ id: mine.id }));
        else if (mine && action.do === 'evict') both((queue) => queue.evict(({ token }) => token === mine.token)?.id);
        both((queue) => queue.admitted.splice(0).map(({ id, token }) => ({ id, token })));
        both((queue) => queue.entries('k'));

        const inside = [...pure.claims].filter(({ held }) => held);
        const [waiting] = [...pure.claims].filter(({ held }) => !held);
        const head = sql.head.get(NAME) as unknown as Row | undefined;
        if (!head) continue;
        expect(head).toMatchObject({
          taken: inside.reduce((sum, { units }) => sum + units, 0),
          room: Math.min(ALL_UNITS, ...inside.map(({ capacity }) => capacity)),
          waiting: waiting ? Number(waiting.token) : null,
        });
        expect(head.soonest).toBeLessThanOrEqual(Math.min(...Array.from(pure.claims, ({ expires }) => expires!)));
      }
      db.close();
    }),
    { numRuns: 300, examples: [[ADMITTED_TO_LESS]] },
  );
});
