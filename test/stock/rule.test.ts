import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import type { Reply, Step } from '../../products/stock/cell.ts';
import { memoryStock, type StockStore } from '../../products/stock/index.ts';
import { formerHomes, homeOf, spread } from '../../products/stock/layout.ts';
import { describeOn } from '../kit/suite.ts';
import { SUBJECTS } from './stores.ts';

const id = fc.constantFrom('r:a', 'r:b', 'p:c');
const buyer = fc.constantFrom('', 'x', 'y');
const units = fc.integer({ min: 1, max: 5 });
const epoch = fc.constantFrom(1, 1, 1, 2);
const token = fc.constantFrom('', '9', '10', '18446744073709551615');
const other = fc.integer({ min: -1, max: 1 });
const op = <O extends Step['op']>(name: O) => fc.constant(name);

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ op: op('open'), epoch }),
  fc.record({ op: op('put'), epoch, id, units }),
  fc.record({
    ...{ op: op('take'), epoch, id, buyer, units, token },
    ttl: fc.constantFrom(0, 1_000_000),
    limit: fc.constantFrom(0, 6),
    already: fc.constantFrom(0, 2),
  }),
  fc.record({ op: op('settle'), id, to: fc.constantFrom('sold' as const, 'cancelled' as const), token }),
  fc.record({ op: op('find'), id, buyer }),
  fc.record({ op: op('send'), to: other, units }),
  fc.record({ op: op('receive'), from: other, seq: fc.integer({ min: 1, max: 3 }), units }),
  fc.record({ op: op('clear'), to: other, seq: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ op: op('look') }),
  fc.record({ op: op('tally') }),
);

/** Orders of one kind that come together. */
const crowd: fc.Arbitrary<Step[]> = fc
  .record({
    kind: fc.record({ epoch, ttl: fc.constantFrom(0, 1_000_000), limit: fc.constantFrom(0, 6) }),
    orders: fc.array(fc.record({ id, buyer, units }), { minLength: 2, maxLength: 5 }),
  })
  .map(({ kind, orders }) =>
    orders.map((order) => ({ op: 'take' as const, already: 0, token: '', ...kind, ...order })),
  );

/** Without what differs from clock to clock, and without what only one of them keeps beside. */
function comparable(reply: Reply): unknown {
  const { now: _, until, bought, cell, ...rest } = reply;
  const { v: __, ...known } = (cell ?? {}) as Record<string, unknown>;
  return { ...rest, runsOut: (until ?? 0) > 0, cell: known };
}

for (const { name, part, open } of SUBJECTS.filter((subject) =>
  ['sqlite', 'redis, ioredis', 'MariaDB', 'MySQL'].includes(subject.name),
)) {
  describeOn(part, `the rule on ${name}`, () => {
    const stack = new AsyncDisposableStack();
    let store: StockStore;
    beforeAll(async () => {
      store = await open(stack);
    });
    afterAll(() => stack.disposeAsync());

    test('is the rule: the same steps get the same answers and leave the same cell', async () => {
      let cells = 0;
      const batches = fc.array(fc.oneof(fc.array(step, { minLength: 1, maxLength: 3 }), crowd), { maxLength: 20 });
      await fc.assert(
        fc.asyncProperty(batches, async (random) => {
          const model = memoryStock();
          const cell = cells++;
          const seed: Step[] = [
            { op: 'open', epoch: 1 },
            { op: 'put', epoch: 1, id: 'p:seed', units: 8 },
          ];
          for (const steps of [seed, ...random, [{ op: 'tally' } as const]]) {
            const [theirs, ours] = [await store.step('p', cell, steps), await model.step('p', cell, steps)];
            const shown = JSON.stringify(steps);
            const [a, b] = [theirs, ours].map((replies) => JSON.stringify(sorted(replies.map(comparable))));
            if (a !== b) throw new Error(`${shown}\n${name} said ${a}\nthe rule says ${b}`);
          }
        }),
        { numRuns: 60 },
      );
    });
  });
}

/** With the names of each object in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}

test('few names move when the number of segments grows, and those that do are found where they were', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 100 }), (name, size) => {
      const [before, after] = [homeOf(name, size), homeOf(name, size + 1)];
      if (before !== after && after !== size) throw new Error('a name moved between old segments');
      const former = formerHomes(name, [size, size + 1]);
      if (`${former}` !== `${before === after ? [] : [before]}`) throw new Error('its former home is forgotten');
    }),
  );
});

test('units are spread as evenly as whole units allow, and none is lost', () => {
  fc.assert(
    fc.property(fc.nat(10_000), fc.integer({ min: 1, max: 200 }), fc.double({ min: 0, max: 1 }), (put, size, share) => {
      const { reserve, segments } = spread(put, size, share || 0);
      const sum = segments.reduce((a, b) => a + b, reserve);
      if (sum !== put || segments.length !== size) throw new Error(`${sum} of ${put} in ${segments.length}`);
      if (Math.max(...segments) - Math.min(...segments) > 1) throw new Error('uneven');
    }),
  );
});
