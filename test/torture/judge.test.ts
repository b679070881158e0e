import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event, FaultKind } from '../../products/torture/events.ts';
import { History } from '../../products/torture/history.ts';
import { judge } from '../../products/torture/judge.ts';
import type { Conditions, Violation } from '../../products/torture/verdict.ts';
import { ALL_UNITS } from '../../src/core/contract/admission.ts';

const TTL = 2_000;
const ALL = { units: ALL_UNITS, capacity: ALL_UNITS };
const READER = { units: 1, capacity: ALL_UNITS };
const PERMIT = { units: 1, capacity: 2 };

interface Holding {
  readonly op: string;
  readonly from: number;
  readonly to: number;
  readonly token?: number;
  readonly by?: number;
  readonly demand?: { readonly units: number; readonly capacity: number };
  readonly asked?: number;
}

/** Somebody who asks, holds, and gives back. */
function hold({ op, from, to, token, by = 0, demand = ALL, asked = from - 1 }: Holding): Event[] {
  return [
    { at: asked, what: 'asked', op, by, key: 'k', ...demand },
    {
      ...{ at: from, what: 'entered', op, before: from - 0.1, remaining: TTL },
      ...(token !== undefined && { token: `${token}` }),
    },
    { at: to, what: 'left', op },
    { at: to + 0.1, what: 'freed', op },
  ];
}

function judged(events: readonly Event[], terms: Conditions = { ttl: TTL, wakes: true, roundTrip: 1 }) {
  const history = new History();
  for (const event of events.toSorted((a, b) => a.at - b.at)) history.apply(event);
  return judge(history, terms);
}

const found = (events: readonly Event[]): Violation['broken'][] =>
  judged(events).violations.map(({ broken }) => broken);

describe('the judge finds', () => {
  test('two holders at once', () => {
    const events = [...hold({ op: 'a', from: 10, to: 30, token: 1 }), ...hold({ op: 'b', from: 29, to: 40, token: 2 })];
    expect(found(events)).toEqual(['exclusion']);
  });

  test('a hold that a blocked loop lost, where a thread renews it; not where another fault is as likely', () => {
    const [asked, entered] = hold({ op: 'a', from: 10, to: 0, token: 1 });
    const lost = (kind: FaultKind, renewed = true, standIn = true, began = 20) =>
      judged(
        [
          { ...asked!, renewed } as Event,
          entered!,
          { at: began, what: 'disturbed', id: 1, kind, by: 0 },
          { at: 4_000, what: 'over', id: 1, effective: true },
          { at: 4_001, what: 'lost', op: 'a' },
        ],
        { ttl: TTL, wakes: true, roundTrip: 1, standIn },
      ).violations.map(({ broken }) => broken);
    expect(lost('blocked')).toEqual(['renewal']);
    expect([lost('starved'), lost('blocked', false), lost('blocked', true, false)]).toEqual([[], [], []]);
    expect(lost('blocked', true, true, 5), 'its grant came while the loop was blocked').toEqual([]);
  });

  test('a hold that a blocked loop lost while another process stood still; not on a file, where that one may be inside a transaction', () => {
    const [asked, entered] = hold({ op: 'a', from: 10, to: 0, token: 1 });
    const lost = (kind: FaultKind, stopsAll: boolean, over = 3_000) =>
      judged(
        [
          { ...asked!, renewed: true } as Event,
          entered!,
          { at: 20, what: 'disturbed', id: 1, kind: 'blocked', by: 0 },
          { at: 1, what: 'disturbed', id: 2, kind, by: 1 },
          { at: over, what: 'over', id: 2, effective: true },
          { at: 4_000, what: 'over', id: 1, effective: true },
          { at: 4_001, what: 'lost', op: 'a' },
        ],
        { ttl: TTL, wakes: true, roundTrip: 1, standIn: true, stopsAll },
      ).violations.map(({ broken }) => broken);
    expect(lost('stopped', false)).toEqual(['renewal']);
    expect(lost('stopped', true)).toEqual([]);
    expect([lost('killed', true), lost('stopped', true, 5)], 'no process stood still').toEqual([
      ['renewal'],
      ['renewal'],
    ]);
  });

  test('a reader beside a writer, and a permit too many', () => {
    const reader = hold({ op: 'r', from: 10, to: 30, demand: READER });
    expect(found([...reader, ...hold({ op: 'w', from: 20, to: 40, token: 1 })])).toEqual(['exclusion']);
    const permits = ['a', 'b', 'c'].flatMap((op) => hold({ op, from: 10, to: 20, demand: PERMIT }));
    expect(found(permits)).toEqual(['exclusion']);
  });

  test('a holder who was stopped, and goes on inside its deadline beside the next one', () => {
    const [asked, entered] = hold({ op: 'a', from: 10, to: 0, token: 1 });
    const stop: Event[] = [
      { at: 20, what: 'stopped', by: 0 },
      { at: 900, what: 'continued', by: 0 },
      { at: 901, what: 'held', op: 'a', remaining: 1_100 },
      { at: 950, what: 'left', op: 'a' },
    ];
    const next = hold({ op: 'b', from: 500, to: 510, token: 2, by: 1 });
    expect(found([asked!, entered!, ...stop, ...next])).toEqual(['exclusion']);
  });

  test('a grant within the deadline of a holder who stands still, though it is told as soon as it goes on', () => {
    const [asked, entered] = hold({ op: 'a', from: 10, to: 0, token: 1 });
    const stop: Event[] = [
      { at: 20, what: 'stopped', by: 0 },
      { at: 900, what: 'continued', by: 0 },
      { at: 901, what: 'lost', op: 'a' },
    ];
    const next = hold({ op: 'b', from: 500, to: 510, token: 2, by: 1 });
    expect(found([asked!, entered!, ...stop, ...next])).toEqual(['exclusion']);
  });

  test('a token that does not grow, and one that is given twice', () => {
    const withSecond = (token: number) => [
      ...hold({ op: 'a', from: 10, to: 20, token: 5 }),
      ...hold({ op: 'b', from: 30, to: 40, token }),
    ];
    expect(found(withSecond(4))).toEqual(['tokens']);
    expect(found(withSecond(5))).toEqual(['tokens']);
  });

  test('a write that is taken from a holder whom another has followed, and one refused of whoever holds', () => {
    const late: Event[] = [
      ...hold({ op: 'a', from: 10, to: 20, token: 1 }),
      { at: 11, what: 'claimed', op: 'a', accepted: true },
      ...hold({ op: 'b', from: 30, to: 40, token: 2 }),
      { at: 31, what: 'claimed', op: 'b', accepted: true },
      { at: 32, what: 'wrote', op: 'a', accepted: true },
    ];
    expect(found(late)).toEqual(['register']);
    const refused: Event[] = [
      ...hold({ op: 'a', from: 10, to: 20, token: 1 }),
      { at: 15, what: 'wrote', op: 'a', accepted: false },
    ];
    expect(found(refused)).toEqual(['register']);
  });

  test('a free key that nobody gets for seconds, though somebody waits', () => {
    const waiter = hold({ op: 'b', asked: 5, from: 6_000, to: 6_010, token: 2 });
    expect(found([...hold({ op: 'a', from: 10, to: 20, token: 1 }), ...waiter])).toEqual(['starvation']);
    const never: Event[] = [
      { at: 5, what: 'asked', op: 'b', by: 1, key: 'k', ...ALL },
      { at: 6_000, what: 'asked', op: 'c', by: 1, key: 'other', ...ALL },
    ];
    expect(found([...hold({ op: 'a', from: 10, to: 20, token: 1 }), ...never])).toEqual(['starvation']);
  });

  test('waiters whom nobody wakes', () => {
    const slow = Array.from({ length: 8 }, (_, i) =>
      hold({ op: `${i}`, asked: i * 700, from: 1_000 + i * 700, to: 1_010 + i * 700, token: i }),
    );
    expect(found(slow.flat())).toEqual(['wake-ups']);
  });

  test('waiters that nobody notifies, also where the machine is a little slow', () => {
    expect(found([...lateHandOvers(400), ...slowMachine(30)])).toEqual(['wake-ups']);
  });

  test('a hold that outlives its process, and a process that ends by itself', () => {
    expect(found([{ at: 1, what: 'remains', key: 'k', label: 'somebody' }])).toEqual(['residue']);
    expect(found([{ at: 1, what: 'crashed', by: 0, how: 'with exit code 1' }])).toEqual(['crash']);
  });
});

/** Eight hand-overs, of which each takes so many ms. */
const lateHandOvers = (ms: number): Event[] =>
  Array.from({ length: 8 }, (_, i) => {
    const from = 1_000 + i * (ms + 10);
    return hold({ op: `${i}`, asked: i * (ms + 10), from, to: from + 10, token: i });
  }).flat();

/** Each 100 ms a timer is late by so many ms. */
const slowMachine = (ms: number): Event[] =>
  Array.from({ length: 60 }, (_, i): Event => ({ at: 100 + i * 100, what: 'late', ms }));

describe('the judge takes no offence at', () => {
  test('waiters that are notified as late as all else happens on a slow machine', () => {
    expect(found(lateHandOvers(400))).toEqual(['wake-ups']);
    expect(found([...lateHandOvers(400), ...slowMachine(80)])).toEqual([]);
  });

  test('a process that goes on after its deadline, and believes in nothing', () => {
    const [asked, entered] = hold({ op: 'a', from: 10, to: 0, token: 1 });
    const stop: Event[] = [
      { at: 20, what: 'stopped', by: 0 },
      { at: 5_000, what: 'continued', by: 0 },
      { at: 5_001, what: 'lost', op: 'a' },
      { at: 5_002, what: 'wrote', op: 'a', accepted: false },
    ];
    const next = hold({ op: 'b', from: 2_100, to: 4_000, token: 2, by: 1 });
    expect(found([asked!, entered!, ...stop, ...next])).toEqual([]);
  });

  test('the next holder of what a killed process held', () => {
    const [asked, entered] = hold({ op: 'a', from: 10, to: 0, token: 1 });
    const killed: Event = { at: 20, what: 'killed', by: 0 };
    expect(found([asked!, entered!, killed, ...hold({ op: 'b', from: 21, to: 30, token: 2, by: 1 })])).toEqual([]);
  });

  test('the next holder of what a process left just before it was killed, although the news of that came later', () => {
    const [asked, entered, left] = hold({ op: 'a', from: 10, to: 18, token: 1 });
    const history = new History();
    for (const event of [
      ...[asked!, entered!, { at: 40, what: 'killed', by: 0 } as const, left!],
      ...hold({ op: 'b', from: 21, to: 60, token: 2, by: 1 }),
    ])
      history.apply(event);
    expect(judge(history, { ttl: TTL, wakes: true, roundTrip: 1 }).violations).toEqual([]);
  });

  test('a loss that was told in time', () => {
    const [asked, entered] = hold({ op: 'a', from: 10, to: 0, token: 1 });
    const lost: Event = { at: 50, what: 'lost', op: 'a' };
    expect(found([asked!, entered!, lost, ...hold({ op: 'b', from: 30, to: 40, token: 2, by: 1 })])).toEqual([]);
  });

  test('a key that nobody gets while something is wrong, or its effect lasts', () => {
    const waiter = hold({ op: 'b', asked: 5, from: 9_000, to: 9_010, token: 2 });
    const events: Event[] = [
      ...hold({ op: 'a', from: 10, to: 20, token: 1 }),
      { at: 21, what: 'disturbed', id: 1, kind: 'no answer' },
      { at: 8_500, what: 'over', id: 1, effective: false },
      ...waiter,
    ];
    expect(found(events)).toEqual([]);
  });

  test('any history that keeps the rule', () => {
    const step = fc.record({
      gap: fc.double({ min: 0.5, max: 50, noNaN: true }),
      length: fc.double({ min: 0.5, max: 500, noNaN: true }),
      end: fc.constantFrom('left', 'lost', 'killed', 'stopped'),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        let at = 10;
        const events = steps.flatMap(({ gap, length, end }, token): Event[] => {
          const from = at + gap;
          const [asked, entered, left, freed] = hold({ op: `${token}`, from, to: from + length, token, by: token });
          at = from + length + 0.2;
          const begun = [asked!, entered!];
          if (end === 'left') return [...begun, left!, freed!];
          if (end === 'killed') return [...begun, { at, what: 'killed', by: token }];
          if (end === 'lost') return [...begun, { at, what: 'lost', op: `${token}` }];
          at = from + TTL + 1;
          const woken = { at: at + 50, what: 'continued', by: token } as const;
          const lost = { at: at + 51, what: 'lost', op: `${token}` } as const;
          return [...begun, { at: from + length, what: 'stopped', by: token }, woken, lost];
        });
        expect(found(events)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('what it has forgotten: the highest token stays', () => {
    const history = new History();
    for (const event of hold({ op: 'a', from: 10, to: 20, token: 7 })) history.apply(event);
    for (const event of hold({ op: 'b', from: 30, to: 40, token: 3 })) history.apply(event);
    history.forget(10_000);
    expect([...history.operations.keys()]).toEqual(['a']);
    for (const event of hold({ op: 'c', from: 11_000, to: 11_001, token: 6 })) history.apply(event);
    expect(judge(history, { ttl: TTL, wakes: true, roundTrip: 1 }).violations.map(({ broken }) => broken)).toEqual([
      'tokens',
    ]);
  });
});
