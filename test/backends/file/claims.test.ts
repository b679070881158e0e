/** The rows of the file engine are held against the queue in memory, step by step, with two processes that take turns as they like. */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { schema } from '../../../src/backends/file/sql.generated.ts';
import { prepare } from '../../../src/backends/file/statements.ts';
import { FileClaims, FileTransaction } from '../../../src/backends/file/transaction.ts';
import { StoredNames } from '../../../src/backends/shared/names.ts';
import { EngineQueue } from '../../../src/backends/shared/queue.ts';
import { EngineTime, TokenCounter } from '../../../src/backends/shared/stored-queue.ts';
import { ALL_UNITS, type Demand } from '../../../src/core/contract/admission.ts';
import { claim } from '../../core/claim.ts';

const units: fc.Arbitrary<Demand> = fc.oneof(
  fc.constant({ units: ALL_UNITS, capacity: ALL_UNITS }),
  fc.constant({ units: 1, capacity: ALL_UNITS }),
  fc
    .integer({ min: 1, max: 4 })
    .chain((capacity) => fc.record({ units: fc.integer({ min: 1, max: capacity }), capacity: fc.constant(capacity) })),
);
const ttl = fc.integer({ min: 1, max: 50 });
/** The process that takes the step. */
const by = fc.boolean();
const step = fc.oneof(
  fc.record({ do: fc.constant('join' as const), by, units, ttl, queue: fc.boolean() }),
  fc.record({ do: fc.constant('again' as const), by, which: fc.nat(), ttl, queue: fc.boolean() }),
  fc.record({ do: fc.constant('renew' as const), by, which: fc.nat(), ttl }),
  fc.record({ do: fc.constant('release' as const), by, which: fc.nat() }),
  fc.record({ do: fc.constant('evict' as const), by, which: fc.nat() }),
  fc.record({ do: fc.constant('undone' as const), by, ttl }),
  fc.record({ do: fc.constant('pass' as const), by, ms: fc.integer({ min: 1, max: 30 }) }),
);

const ONE: Demand = { units: 1, capacity: 1 };
/** The second expires sooner once it holds than the sign of life that it gave while it waited would have had it. */
const ADMITTED_TO_LESS: ReturnType<typeof step.generate>['value'][] = [
  { do: 'join', by: true, units: ONE, ttl: 3, queue: true },
  { do: 'join', by: false, units: ONE, ttl: 1, queue: true },
  { do: 'again', by: true, which: 1, ttl: 3, queue: true },
  { do: 'pass', by: true, ms: 1 },
  { do: 'release', by: false, which: 0 },
];

test('rows come to what the queue in memory does, whichever process takes a step, and a step that is undone to nothing', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const db = new DatabaseSync(':memory:');
      db.exec(schema);
      const sql = prepare(db);
      const [tokens, pureTokens] = [new TokenCounter(0n), new TokenCounter(0n)];
      const processes = [0, 1].map((process) => {
        let versions = 0;
        const known = new Map<string, FileClaims>();
        return {
          names: new StoredNames('holdfast'),
          process: '',
          tokens,
          known,
          newVersion: () => `${process}/${++versions}`,
        };
      });
      const pure = new EngineQueue(pureTokens);
      let [now, last] = [1, 0];
      for (const action of steps) {
        if (action.do === 'pass') now += action.ms;
        const context = processes[Number(action.by)]!;
        const all = [...pure.at(new EngineTime(now)).claims];
        const mine = 'which' in action ? all[action.which % Math.max(1, all.length)] : undefined;
        const turn = new FileTransaction(context, sql, now);
        const both = (act: (queue: EngineQueue) => unknown): void => expect(turn.step('k', act)).toEqual(act(pure));
        if (action.do === 'undone') {
          const before = tokens.last;
          db.exec('BEGIN');
          turn.step('k', (queue) => queue.attempt(claim('undone', { ttl: action.ttl })));
          db.exec('ROLLBACK');
          tokens.last = before;
          context.known.clear();
        } else if (action.do === 'join') {
          const { queue, ttl } = action;
          const newcomer = claim(`${++last}`, { ...action.units, ttl, queue });
          both((queue) => queue.attempt(newcomer));
        } else if (mine && action.do === 'again') {
          const { id, units, capacity } = mine;
          const again = claim(id, { units, capacity, ttl: action.ttl, queue: action.queue });
          both((queue) => queue.attempt(again));
        } else if (mine && action.do === 'renew') both((queue) => queue.renew({ id: mine.id, ttl: action.ttl }));
        else if (mine && action.do === 'release') both((queue) => queue.release({ id: mine.id }));
        else if (mine && action.do === 'evict') both((queue) => queue.evict(({ token }) => token === mine.token)?.id);
        both((queue) => queue.entries('k'));
        if (action.do !== 'undone') {
          const admitted = turn.admitted.map(({ id, token }) => ({ id, token }));
          expect(admitted).toEqual(pure.admitted.splice(0).map(({ id, token }) => ({ id, token })));
        }
        const stored = new FileClaims(sql, Buffer.from('holdfast/k'), () => '');
        expect(Array.from(stored, ({ id, held, expires }) => ({ id, held, expires }))).toEqual(
          Array.from(pure.claims, ({ id, held, expires }) => ({ id, held, expires })),
        );
      }
      db.close();
    }),
    { numRuns: 300, examples: [[ADMITTED_TO_LESS]] },
  );
});

test('a queue that nobody else has changed is not read again, and one that another process has changed is', () => {
  const db = new DatabaseSync(':memory:');
  db.exec(schema);
  const sql = prepare(db);
  const tokens = new TokenCounter(0n);
  const processOf = (process: string) => {
    let versions = 0;
    const context = {
      names: new StoredNames('p'),
      process,
      tokens,
      known: new Map(),
      newVersion: () => `${process}/${++versions}`,
    };
    return (act: (queue: EngineQueue) => unknown) => {
      new FileTransaction(context, sql, 1).step('k', act);
      return context.known.get('p/k');
    };
  };
  const [one, other] = [processOf('one'), processOf('other')];
  const join = (id: string) => (queue: EngineQueue) => queue.attempt(claim(id, { ttl: 50 }));
  const known = one(join('a'));
  expect(one(join('b'))).toBe(known);
  other((queue) => queue.release({ id: 'b' }));
  const again = one((queue) => queue.look());
  expect(again).not.toBe(known);
  expect(Array.from(again, ({ id }: { id: string }) => id)).toEqual(['a']);
  expect(one(join('c'))).toBe(again);
});
