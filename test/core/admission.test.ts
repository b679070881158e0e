import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ALL_UNITS,
  admitted,
  asOf,
  type Demand,
  EXCLUSIVE,
  isExclusive,
  SHARED,
  Tally,
  WRITER,
} from '../../src/core/contract/admission.ts';

/** Small rooms, so that random lines meet at their bounds. */
const permits = fc
  .integer({ min: 1, max: 6 })
  .chain((of) => fc.record({ units: fc.integer({ min: 1, max: of }), capacity: fc.constant(of) }));
const demand: fc.Arbitrary<Demand> = fc.oneof(fc.constant(EXCLUSIVE), fc.constant(SHARED), permits);
const line = fc.array(demand, { maxLength: 12 });

const taken = (holders: readonly Demand[]): number => holders.reduce((sum, { units }) => sum + units, 0);
const room = (holders: readonly Demand[]): number => Math.min(...holders.map(({ capacity }) => capacity));

describe('the rule of admission', () => {
  test('is safe: those admitted fit the smallest room any of them named', () => {
    fc.assert(
      fc.property(line, (claims) => {
        const holders = claims.slice(0, admitted(claims));
        expect(taken(holders)).toBeLessThanOrEqual(room(holders));
      }),
    );
  });

  test('leaves no room unused: the first that is refused does not fit', () => {
    fc.assert(
      fc.property(line, (claims) => {
        const count = admitted(claims);
        const one = claims.slice(0, count + 1);
        if (count < claims.length) expect(taken(one)).toBeGreaterThan(room(one));
      }),
    );
  });

  test('is fair: who comes later changes nothing for those ahead', () => {
    fc.assert(
      fc.property(line, line, (ahead, behind) => {
        expect(Math.min(admitted([...ahead, ...behind]), ahead.length)).toBe(admitted(ahead));
      }),
    );
  });

  test('keeps who is in: a departure from ahead or from behind revokes nobody', () => {
    fc.assert(
      fc.property(line, fc.nat(), (claims, at) => {
        const count = admitted(claims);
        const leaver = at % Math.max(1, claims.length);
        const left = claims.toSpliced(leaver, 1);
        expect(admitted(left)).toBeGreaterThanOrEqual(leaver < count ? count - 1 : count);
      }),
    );
  });

  test('admits an exclusive claim only at the head, and nobody beside it', () => {
    fc.assert(
      fc.property(line, (claims) => {
        const at = claims.slice(0, admitted(claims)).findIndex((claim) => claim.units === ALL_UNITS);
        if (at !== -1) expect([at, admitted(claims)]).toEqual([0, 1]);
      }),
    );
  });

  test('makes tokens grow: along any history exclusive claims are admitted in the order they came', () => {
    const steps = fc.array(fc.oneof(demand, fc.nat({ max: 20 })), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (history) => {
        let standing: { demand: Demand; token: number }[] = [];
        let last = 0;
        for (const [token, step] of history.entries()) {
          if (typeof step === 'number') standing = standing.toSpliced(step % Math.max(1, standing.length), 1);
          else standing.push({ demand: step, token: token + 1 });
          const head = standing[0];
          if (!head || !isExclusive(head.demand) || head.token === last) continue;
          expect(head.token).toBeGreaterThan(last);
          last = head.token;
        }
      }),
    );
  });

  test('admits everyone at the head of a line of readers, and of permits that fit', () => {
    expect(admitted([])).toBe(0);
    expect(admitted([SHARED, SHARED, SHARED, EXCLUSIVE, SHARED])).toBe(3);
    expect(admitted([EXCLUSIVE, SHARED])).toBe(1);
    expect(admitted(Array.from({ length: 5 }, () => ({ units: 1, capacity: 3 })))).toBe(3);
  });

  test('counts a mixed line by the smallest room in it', () => {
    expect(admitted([SHARED, { units: 1, capacity: 3 }, SHARED, SHARED])).toBe(3);
    expect(admitted([{ units: 1, capacity: 5 }, { units: 1, capacity: 2 }, SHARED])).toBe(2);
    expect(admitted([EXCLUSIVE, { units: 1, capacity: 1 }])).toBe(1);
  });
});

describe('Tally', () => {
  test('agrees with the rule after any additions and removals', () => {
    const steps = fc.array(fc.oneof(demand, fc.nat({ max: 20 })), { maxLength: 80 });
    fc.assert(
      fc.property(steps, demand, (history, probe) => {
        const tally = new Tally();
        let counted: Demand[] = [];
        for (const step of history) {
          if (typeof step !== 'number') {
            tally.add(step);
            counted.push(step);
          } else if (counted.length > 0) {
            const leaver = step % counted.length;
            tally.remove(counted[leaver]!);
            counted = counted.toSpliced(leaver, 1);
          }
          expect(tally.fits(probe)).toBe(taken([...counted, probe]) <= room([...counted, probe]));
        }
      }),
    );
  });

  test('of a prefix that is admitted knows the smallest room still named, whoever leaves', () => {
    const steps = fc.array(fc.oneof(permits, fc.nat({ max: 20 })), { maxLength: 40 });
    const one = (of: number): Demand => ({ units: 1, capacity: of });
    fc.assert(
      fc.property(steps, (history) => {
        const tally = new Tally();
        let inside: Demand[] = [];
        for (const step of history) {
          if (typeof step === 'number') {
            const leaver = inside[step % Math.max(1, inside.length)];
            if (leaver) tally.remove(leaver);
            inside = inside.filter((each) => each !== leaver);
          } else if (tally.fits(step)) {
            tally.add(step);
            inside.push(step);
          }
          const rooms = [1, 2, 3, 4, 5, 6, 7];
          const free = rooms.filter((of) => taken(inside) + 1 <= room([...inside, one(of)]));
          expect(rooms.filter((of) => tally.fits(one(of)))).toEqual(free);
        }
      }),
    );
  });
});

describe('demand', () => {
  test('of a writer is that of a mutex, and says that it is one: some engines store writers under another name', () => {
    expect(WRITER).toEqual({ ...EXCLUSIVE, readWrite: true });
    expect(EXCLUSIVE).not.toHaveProperty('readWrite');
  });

  test('all of them are the largest number that every engine can store as an integer of 32 bits', () => {
    expect(ALL_UNITS | 0).toBe(ALL_UNITS);
    expect((ALL_UNITS + 1) | 0).toBeLessThan(0);
  });

  test('of a claim are told in words', () => {
    expect([EXCLUSIVE, SHARED, { units: 2, capacity: 5 }].map(asOf)).toEqual(['exclusive', 'shared', '2 of 5']);
  });
});

test('a tally of those who come and go is that of those who are there, however many rooms they name', () => {
  // Many, in rooms that are about as large as they are many: each of them is the smallest at some time, and full.
  const one = fc.integer({ min: 8, max: 14 }).map((of) => ({ units: 1, capacity: of }));
  const step = fc.record({ leaves: fc.integer({ max: 2, min: 0 }), at: fc.nat(), demand: one });
  const newcomer = { units: 1, capacity: ALL_UNITS };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const tally = new Tally();
      const there: Demand[] = [];
      for (const { leaves, at, demand } of steps) {
        if (leaves === 0 && there.length > 0) tally.remove(there.splice(at % there.length, 1)[0]!);
        else {
          tally.add(demand);
          there.push(demand);
        }
        const fits = taken(there) + newcomer.units <= Math.min(room(there), newcomer.capacity);
        expect(tally.fits(newcomer)).toBe(fits);
      }
    }),
    { numRuns: 300 },
  );
});

test('capacities that nobody names any more cost nothing, however many of them came and went', () => {
  const tally = new Tally();
  for (let standing = 0; standing < 6; standing++) tally.add({ units: 1, capacity: ALL_UNITS - standing });
  const begin = performance.now();
  for (let capacity = 10; capacity < 100_000; capacity++) {
    tally.add({ units: 1, capacity });
    tally.remove({ units: 1, capacity });
  }
  expect(performance.now() - begin, 'with those of before in mind it would take minutes').toBeLessThan(4_000);
  expect(tally.fits({ units: ALL_UNITS - 11, capacity: ALL_UNITS })).toBe(true);
});
