import { describe, expect, test } from 'vitest';
import type { Event } from '../../products/torture/events.ts';
import { torture } from '../../products/torture/torture.ts';
import { EXCLUSIVE, isExclusive } from '../../src/core/contract/admission.ts';
import { ALL_SITES } from '../kit/sites.ts';
import { describeOn } from '../kit/suite.ts';
import { type Line, logOf, objection } from './replay.ts';

type Of<D extends Line['did']> = Extract<Line, { readonly did: D }>;

const inOrder = (log: readonly Line[]): Line[] => log.toSorted((a, b) => a.at - b.at);
const changed = (log: readonly Line[], line: Line, by: Partial<Line>): Line[] =>
  inOrder(log.map((each) => (each === line ? ({ ...each, ...by } as Line) : each)));
const without = (log: readonly Line[], line: Line): Line[] => log.filter((each) => each !== line);
const as = <D extends Line['did']>(log: readonly Line[], did: D): Of<D>[] =>
  log.filter((line) => line.did === did) as readonly Line[] as Of<D>[];
const exclusive = (log: readonly Line[]): Of<'granted'>[] => as(log, 'granted').filter(isExclusive);
/** The next grant of the key. */
const next = (log: readonly Line[], line: Line): Of<'granted'> | undefined =>
  as(log.slice(log.indexOf(line) + 1), 'granted').find(({ key }) => key === line.key);
const grantOf = (log: readonly Line[], { claim }: Line): Of<'granted'> =>
  as(log, 'granted').find((line) => line.claim === claim)!;

/** Each way to change one line, at every place where it may be done. */
const ALTERATIONS: Readonly<Record<string, (log: readonly Line[]) => Line[][]>> = {
  'a grant while another holds': (log) =>
    as(log, 'released').flatMap((line) => {
      const grant = next(log, line);
      const mine = grantOf(log, line);
      if (!grant || !isExclusive(mine) || mine.at >= line.at) return [];
      return [changed(log, grant, { at: (mine.at + line.at) / 2 })];
    }),
  'a token for the second time': (log) =>
    exclusive(log).flatMap((line) => {
      const after = next(log, line);
      return after ? [changed(log, after, { token: line.token })] : [];
    }),
  'a token that is lower': (log) =>
    exclusive(log).flatMap((line) => {
      const after = next(log, line);
      return after ? [changed(log, after, { token: line.token - 1n })] : [];
    }),
  'a writer beside a reader': (log) =>
    as(log, 'granted').flatMap((line, _i, grants) => {
      const over = log.find(({ claim, did }) => claim === line.claim && (did === 'released' || did === 'expired'))!;
      const beside = grants.some(({ key, at }) => key === line.key && at > line.at && at < over.at);
      return beside ? [changed(log, line, EXCLUSIVE)] : [];
    }),
  'a grant left out': (log) => as(log, 'granted').map((line) => without(log, line)),
  'a lease that was over before': (log) => as(log, 'granted').map((line) => changed(log, line, { until: line.at })),
  'a release left out': (log) => as(log, 'released').map((line) => without(log, line)),
  'a release by somebody else': (log) => as(log, 'released').map((line) => changed(log, line, { claim: 'nobody' })),
  'a release that is a renewal': (log) =>
    as(log, 'released').map((line) => changed(log, line, { did: 'renewed', until: line.at + 1 })),
  'an expiry left out': (log) => as(log, 'expired').map((line) => without(log, line)),
  'an expiry too soon': (log) => as(log, 'expired').map((line) => changed(log, line, { at: line.at - 1 })),
  'an expiry too late': (log) => as(log, 'expired').map((line) => changed(log, line, { at: line.at + 1 })),
  'a renewal of what is over': (log) =>
    as(log, 'renewed').flatMap((line) => {
      const over = log.find(({ claim, did }) => claim === line.claim && (did === 'released' || did === 'expired'))!;
      return [changed(log, line, { at: over.at + 1 })];
    }),
  'a renewal that shortens': (log) => as(log, 'renewed').map((line) => changed(log, line, { until: line.at })),
};

/** Of each alteration so many are tried, from all over the log. */
const PLACES = 25;

/** The alterations that were possible. Each of them has to be refused. */
function refused(log: readonly Line[]): string[] {
  expect(objection(log)).toBeUndefined();
  return Object.entries(ALTERATIONS).flatMap(([what, alter]) => {
    const altered = alter(log);
    const every = Math.ceil(altered.length / PLACES);
    const taken = altered.filter((each, i) => i % every === 0 && objection(each) === undefined);
    expect(taken, `${what} was accepted`).toEqual([]);
    return altered.length > 0 ? [what] : [];
  });
}

describe.each(['redis', 'postgres', 'etcd'] as const)('what %s did under torture', (name) => {
  describeOn(name, 'in a log', () => {
    test('is what the rule of admission does, and with one line changed it is not', { timeout: 120_000 }, async () => {
      await using site = await ALL_SITES[name].start();
      const events: Event[] = [];
      const run = { url: site.url, duration: 12_000, seed: 3, processes: 4, busy: 2 };
      const verdict = await torture({ ...run, onEvent: (event) => events.push(event) });
      // Whether waiters were woken in time is no matter of order.
      expect(Object.keys(verdict.broken).filter((promise) => promise !== 'wake-ups')).toEqual([]);
      const log = logOf(events);
      expect(as(log, 'granted').length).toBeGreaterThan(30);
      // Which alterations there are places for depends on what happened; of SAMPLE below all are.
      expect(refused(log).length).toBeGreaterThan(6);
    });
  });
});

const READER = { units: 1, capacity: EXCLUSIVE.capacity };
const granted = { did: 'granted', key: 'a' } as const;
const SAMPLE: readonly Line[] = [
  { ...granted, ...EXCLUSIVE, at: 1, claim: 'killed', token: 1n, until: 2_001 },
  { at: 2_001, key: 'a', claim: 'killed', did: 'expired' },
  { ...granted, ...READER, at: 2_002, claim: 'one', token: 2n, until: 4_002 },
  { ...granted, ...READER, at: 2_003, claim: 'another', token: 3n, until: 4_003 },
  { at: 3_000, key: 'a', claim: 'one', did: 'renewed', until: 5_000 },
  { at: 3_100, key: 'a', claim: 'another', did: 'released' },
  { at: 4_500, key: 'a', claim: 'one', did: 'released' },
  { ...granted, ...EXCLUSIVE, at: 4_600, claim: 'writer', token: 4n, until: 6_600 },
  { at: 4_700, key: 'a', claim: 'writer', did: 'released' },
  { ...granted, ...EXCLUSIVE, at: 4_800, claim: 'next', token: 5n, until: 6_800 },
  { at: 4_900, key: 'a', claim: 'next', did: 'released' },
];

test('each way to change a line of a log is refused', () => {
  expect(refused(SAMPLE)).toEqual(Object.keys(ALTERATIONS));
});

test('what was lost and given back at the first look after the grant was granted before', () => {
  const asked = { what: 'asked', op: 'a', by: 0, key: 'k', ...EXCLUSIVE, at: 1 } as const;
  const entered = { what: 'entered', op: 'a', before: 10, remaining: 2_000, token: '1', at: 12 } as const;
  const log = logOf([asked, entered, { what: 'lost', op: 'a', at: 14 }, { what: 'freed', op: 'a', at: 20 }]);
  expect(log.map(({ did }) => did)).toEqual(['granted', 'released']);
  expect(objection(log)).toBeUndefined();
});

test('an empty log has no lines, and one that is not in order or not complete is refused', () => {
  expect(logOf([])).toEqual([]);
  expect(objection([SAMPLE[0]!, { ...SAMPLE[1]!, at: 0 }])).toMatch(/before the one above/);
  expect(objection([SAMPLE[0]!])).toMatch(/no end/);
});
