import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Event } from '../../products/torture/events.ts';
import { torture } from '../../products/torture/torture.ts';
import { ALL_UNITS } from '../../src/core/index.ts';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { alterations } from './alterations.ts';
import { opinions, ourOpinion } from './judges.ts';

const LIMIT = { timeout: 180_000 };
/** Altered histories, each of which must be rejected. */
const ALTERED = 1_000;

/** The events of a run on a real server under faults; `broken`: the promise that its engine breaks, by name. */
async function recorded(duration: number, broken?: string): Promise<Event[]> {
  await using server = await startRedis();
  const events: Event[] = [];
  process.env.BROKEN = broken;
  const worker = broken === undefined ? undefined : new URL('../torture/broken.worker.ts', import.meta.url);
  await torture({
    ...{ url: server.url, duration, seed: 5, processes: 3, ...(worker && { worker }) },
    onEvent: (event) => events.push(event),
  });
  return events;
}

/** The part of a history that is about one key, with what happened to processes. */
function onKey(events: readonly Event[], key: string): Event[] {
  const ops = new Set(events.flatMap((event) => (event.what === 'asked' && event.key === key ? [event.op] : [])));
  return events.filter((event) => !('op' in event) || ops.has(event.op));
}

const SHARES = [
  { units: ALL_UNITS, capacity: ALL_UNITS },
  { units: 1, capacity: ALL_UNITS },
  { units: 1, capacity: 2 },
];

/** Holds at any times, with any tokens, of a few processes. */
const anyHistory = fc
  .uniqueArray(
    fc.record({
      from: fc.integer({ min: 10, max: 300 }),
      waited: fc.integer({ min: 1, max: 30 }),
      length: fc.integer({ min: 1, max: 40 }),
      token: fc.integer({ min: 0, max: 2 }),
      end: fc.constantFrom('left', 'lost', 'killed'),
      share: fc.nat({ max: SHARES.length - 1 }),
      writes: fc.array(fc.record({ after: fc.integer({ min: 1, max: 60 }), accepted: fc.boolean() }), { maxLength: 1 }),
    }),
    { minLength: 1, maxLength: 7, selector: ({ from }) => from },
  )
  .map((holds) =>
    holds
      .toSorted((a, b) => a.from - b.from)
      .flatMap(({ from, waited, length, token, end, share, writes }, i): Event[] => {
        const op = `${i}`;
        const to = from + length + 0.5;
        return [
          { at: from - waited, what: 'asked', op, by: i, key: 'k', ...SHARES[share]! },
          // Mostly in order, so that many histories are right.
          { at: from, what: 'entered', op, before: from - 0.5, remaining: 2_000, token: `${10 * i + 8 * token}` },
          ...(end === 'left'
            ? [{ at: to, what: 'left', op } as const, { at: to + 0.25, what: 'freed', op } as const]
            : end === 'lost'
              ? [{ at: to, what: 'lost', op } as const]
              : [{ at: to, what: 'killed', by: i } as const]),
          ...(share > 0 ? [] : writes).map(
            ({ after, accepted }): Event => ({ at: from + after, what: 'wrote', op, accepted }),
          ),
        ];
      }),
  );

describeOn('porcupine', 'Porcupine and the judge of torture agree', () => {
  test('on a history without a hold, which is no pass', () => {
    expect([opinions([[]]), ourOpinion([])]).toEqual([['empty'], 'empty']);
  });

  test('on any history whose holds were first seen one after the other', LIMIT, () => {
    const histories = fc.sample(anyHistory, { numRuns: 3_000, seed: 1 });
    const theirs = opinions(histories);
    const ours = histories.map(ourOpinion);
    const apart = histories.flatMap((events, i) => (theirs[i] === ours[i] ? [] : [{ events, theirs: theirs[i] }]));
    expect(apart.slice(0, 1)).toEqual([]);
    const right = theirs.filter((opinion) => opinion === 'possible').length;
    expect(right / histories.length, 'the part of right ones').toBeGreaterThan(0.1);
    expect(right / histories.length, 'the part of right ones').toBeLessThan(0.9);
  });
});

describeOn(
  ['redis', 'porcupine'],
  'Porcupine and the judge of torture agree, on runs of a real server under faults,',
  () => {
    test('that a lock answered so, and that it could not have where one event is altered', LIMIT, async () => {
      const events = await recorded(15_000);
      expect([opinions([events]), ourOpinion(events)]).toEqual([['possible'], 'possible']);
      const keys = new Set(events.flatMap((event) => (event.what === 'asked' ? [event.key] : [])));
      const all = [...keys].flatMap((key) => {
        const its = onKey(events, key);
        return alterations(its).map(({ what, of, to }) => ({
          what,
          events: its.map((event) => (event === of ? to : event)),
        }));
      });
      const every = Math.max(1, all.length / ALTERED);
      const chosen = Array.from({ length: ALTERED }, (_, i) => all[Math.floor(i * every) % all.length]!);
      expect(new Set(chosen.map(({ what }) => what)).size, 'kinds of alterations').toBe(5);
      const theirs = opinions(chosen.map(({ events }) => events));
      const missed = chosen.filter(
        ({ events }, i) => theirs[i] !== 'impossible' || ourOpinion(events) !== 'impossible',
      );
      expect(missed.map(({ what }) => what)).toEqual([]);
    });

    const planted = [
      'grants twice',
      'gives tokens twice',
      'lets readers in beside a writer',
      'gives a permit too many',
    ];
    test.each(planted)('on an engine that %s', LIMIT, async (name) => {
      const events = await recorded(60_000, name);
      expect([opinions([events]), ourOpinion(events)]).toEqual([['impossible'], 'impossible']);
    });
  },
);
