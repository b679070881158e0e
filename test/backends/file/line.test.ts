import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Line } from '../../../src/backends/file/line.ts';
import { notes, schema, words } from '../../../src/backends/file/sql.generated.ts';
import { prepare, type Row } from '../../../src/backends/file/statements.ts';
import { ALL_UNITS, admitted, type Units } from '../../../src/core/contract/admission.ts';
import type { Claim } from '../../../src/core/contract/backend.ts';

const KEY = Buffer.from('holdfast/k');

const seats: fc.Arbitrary<Units> = fc.oneof(
  fc.constant({ units: ALL_UNITS, capacity: ALL_UNITS }),
  fc.constant({ units: 1, capacity: ALL_UNITS }),
  fc
    .integer({ min: 1, max: 4 })
    .chain((of) => fc.record({ units: fc.integer({ min: 1, max: of }), capacity: fc.constant(of) })),
);
const claim = (id: string, { units, capacity }: Units, ttl: number): Claim => {
  return { key: 'k', id, units, capacity, ttl, queue: true, tokenCount: 1, within: 1, label: '' };
};
const step = fc.oneof(
  fc.record({ do: fc.constant('join' as const), seats, ttl: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ do: fc.constant('touch' as const), whom: fc.nat(), ttl: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ do: fc.constant('remove' as const), whom: fc.nat() }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 30 }) }),
);

const ONE: Units = { units: 1, capacity: 1 };
/** The second expires sooner once it holds than the sign of life that it gave while it waited would have had it. */
const ADMITTED_TO_LESS: ReturnType<typeof step.generate>['value'][] = [
  { do: 'join', seats: ONE, ttl: 3 },
  { do: 'join', seats: ONE, ttl: 1 },
  { do: 'touch', whom: 1, ttl: 3 },
  { do: 'pass', ms: 1 },
  { do: 'remove', whom: 0 },
];

test('the tally on the head is what counting the line gives, whatever joins, leaves and expires', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const db = new DatabaseSync(':memory:');
      db.exec(schema + notes + words);
      const sql = prepare(db);
      const standing = (): Row[] => sql.range.all(KEY, Buffer.from('holdfast/l')) as unknown as Row[];
      const held = new Set<string>();
      let now = 1;
      let last = 0;
      for (const action of steps) {
        if (action.do === 'pass') now += action.ms;
        const called: Row[] = [];
        const line = new Line(sql, KEY, now, called);
        const rows = standing();
        const whom = 'whom' in action ? rows[action.whom % Math.max(1, rows.length)] : undefined;
        if (action.do === 'join') {
          const id = `${++last}`;
          if (line.join(claim(id, action.seats, action.ttl), last, 'bell')) held.add(id);
        } else if (whom && action.do === 'remove') line.remove(whom);
        else if (whom && action.do === 'touch') line.touch(whom, claim(whom.id, whom, action.ttl));
        for (const { id } of called) {
          expect(held, 'nobody is called twice').not.toContain(id);
          held.add(id);
        }

        const after = standing();
        const inside = after.slice(0, admitted(after));
        expect(after.map((row) => row.held)).toEqual(after.map((_, i) => Number(i < inside.length)));
        expect(
          inside.every(({ id }) => held.has(id)),
          'whoever holds was told',
        ).toBe(true);
        expect(
          after.every(({ expires }) => expires > now),
          'nobody stands who has expired',
        ).toBe(true);
        const [head] = after;
        if (!head) continue;
        expect(head).toMatchObject({
          taken: inside.reduce((sum, { units }) => sum + units, 0),
          room: Math.min(ALL_UNITS, ...inside.map(({ capacity }) => capacity)),
          waiting: after[inside.length]?.token ?? null,
        });
        expect(head.soonest).toBeLessThanOrEqual(Math.min(...after.map(({ expires }) => expires)));
      }
      db.close();
    }),
    { numRuns: 300, examples: [[ADMITTED_TO_LESS]] },
  );
});
