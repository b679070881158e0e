import { describe, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { LayeredOptions } from '../../src/core/contract/option-table.ts';
import type { LockOptions } from '../../src/core/contract/options.ts';
import type { Cover, LocalGrant } from '../../src/core/queue/hold-timing.ts';
import { HoldTiming, restOfLease } from '../../src/core/queue/hold-timing.ts';
import { lastsFor } from '../../src/core/queue/release.ts';

const { traits } = memory();
const resolved = (options: LockOptions) => new LayeredOptions(traits, { ttl: 3_000, ...options }).terms;

interface How extends Partial<LocalGrant> {
  readonly options?: LockOptions;
  /** A session carries it. */
  readonly session?: boolean;
  readonly patient?: boolean;
  readonly now?: number;
}

function timingOf({ options = {}, session = false, patient = false, now = 0, ...granted }: How = {}): HoldTiming {
  const asked = { token: 1n, sent: now, since: now, validFor: 3_000, ...granted };
  const timing = new HoldTiming(asked, resolved(options), !session);
  if (patient) timing.renewAtOnce(now);
  return timing;
}

describe('a hold is good', () => {
  test('from when it was asked for, not from when it was granted, less a hundredth and 2 ms', () => {
    const timing = timingOf({ sent: 100, now: 150 });
    expect(timing).toMatchObject({ since: 150, sent: 100, deadline: 3_068, confirmedFor: 3_000 });
  });

  test('for the lease that was asked for, from now, where the claim of a waiter lasts longer', () => {
    const timing = timingOf({ sent: 100, now: 500, validFor: 60_000 });
    expect(timing).toMatchObject({ sent: 500, deadline: 3_468, confirmedFor: 3_000, renewAt: 1_500 });
  });

  test('from when it was asked for, where the claim of a waiter lasts just as long', () => {
    const timing = timingOf({ sent: 100, now: 199, validFor: 3_100 });
    expect(timing).toMatchObject({ sent: 100, deadline: 3_167, renewAt: 1_100 });
  });

  test('without end where a session is, and is renewed all the same', () => {
    const timing = timingOf({ sent: 100, now: 500, validFor: Number.POSITIVE_INFINITY, session: true });
    expect(timing).toMatchObject({ sent: 100, deadline: Number.POSITIVE_INFINITY, renewAt: 1_100 });
  });

  test('with maxHold no longer than the lease, whatever a session is good for', () => {
    const timing = timingOf({
      validFor: Number.POSITIVE_INFINITY,
      session: true,
      options: { maxHold: 10_000 },
    });
    expect(timing.deadline).toBe(2_968);
    timing.noteRenewal(1_000, Number.POSITIVE_INFINITY, 1_100);
    expect(timing.deadline).toBe(3_968);
  });

  test('with maxHold for a lease from now, where what the engine says is good for longer, however long ago it was asked for', () => {
    for (const how of [{ validFor: Number.POSITIVE_INFINITY, session: true }, { validFor: 9_000 }]) {
      const timing = timingOf({ sent: 0, now: 4_000, ...how, options: { maxHold: 10_000 } });
      expect(timing).toMatchObject({ sent: 4_000, deadline: 6_968, confirmedFor: 3_000, renewAt: 5_000 });
    }
  });

  test('for no longer than an attempt sets that was not answered and may still arrive', () => {
    const timing = timingOf({ lateUntil: 1, validFor: 3_000 });
    expect([timing.lateUntil, timing.certain]).toEqual([1, false]);
    timing.ttl = 60_000;
    timing.noteRenewal(1_000, 60_000, 1_000);
    expect(timing.confirmation).toEqual({ sent: 1_000, validFor: 3_000 });
    const sure = timingOf();
    expect([sure.lateUntil, sure.certain]).toEqual([0, true]);
  });
});

describe('it is renewed', () => {
  test.each<[string, How, number]>([
    ['after a third of the lease', {}, 1_000],
    ['earlier where the notice is long: there has to be time for a second try', { options: { notice: 2_000 } }, 484],
    ['at once where the claim of a patient waiter lasts longer', { patient: true, validFor: 60_000 }, 0],
    ['never without renew', { options: { renew: false } }, Number.POSITIVE_INFINITY],
    ['never without renew, however patient', { options: { renew: false }, patient: true }, Number.POSITIVE_INFINITY],
    [
      'never without renew where a lease of the engine is shorter than asked for',
      { options: { renew: false }, validFor: 1_000 },
      Number.POSITIVE_INFINITY,
    ],
    [
      'without renew, too, where a session confirms for less than the lease',
      { options: { renew: false, notice: 0 }, session: true, validFor: 1_200 },
      400,
    ],
  ])('%s', (_, how, renewAt) => {
    expect(timingOf(how).renewAt).toBe(renewAt);
  });

  test('by a session until the end of its lease, and no longer', () => {
    const timing = timingOf({ options: { renew: false }, session: true, validFor: 1_000 });
    expect(timing.renews(0)).toBe(true);
    timing.noteRenewal(900, 1_500, 950);
    expect([timing.deadline, timing.renews(950)]).toEqual([2_383, true]);
    timing.noteRenewal(2_000, 1_500, 2_000);
    expect([timing.deadline, timing.renews(2_000), timing.renewAt]).toEqual([2_968, false, Number.POSITIVE_INFINITY]);
  });

  test('until maxHold is over, which counts from the grant', () => {
    const timing = timingOf({ now: 500, options: { maxHold: 1_000 } });
    expect([timing.renews(1_499), timing.renews(1_500)]).toEqual([true, false]);
  });

  test('after a renewal from when that was sent, for what was confirmed', () => {
    const timing = timingOf();
    timing.renewalFailed(new Error('broken'), 500);
    const { deadline } = timing;
    timing.noteRenewal(1_000, 1_500, 1_100);
    expect(timing).toMatchObject({
      deadline, // an answer that is good for less does not shorten what was promised
      sent: 1_000,
      failure: undefined,
      confirmedFor: 1_500,
      confirmation: { sent: 1_000, validFor: 1_500 },
      renewAt: 1_500,
    });
  });

  test('not while a renewal is under way, whatever else is confirmed meanwhile', () => {
    const timing = timingOf();
    timing.noteRenewing(Promise.resolve());
    timing.noteRenewal(500, 3_000, 600);
    expect(timing).toMatchObject({ sent: 500, renewAt: Number.POSITIVE_INFINITY });
    timing.noteRenewing(undefined);
    timing.noteRenewal(700, 3_000, 800);
    expect(timing.renewAt).toBe(1_700);
  });

  test('again soon after a failure, which is remembered', () => {
    const timing = timingOf();
    const error = new Error('broken');
    timing.renewalFailed(error, 1_100);
    expect(timing).toMatchObject({ failure: error, renewAt: 1_350, deadline: 2_968 });
  });

  test('for no longer than what a renewal without an answer may still set', () => {
    const timing = timingOf();
    timing.doubt(1_500);
    timing.noteRenewal(1_000, 3_000, 1_100);
    expect(timing).toMatchObject({ certain: false, confirmation: { sent: 1_000, validFor: 1_500 } });
  });
});

describe('its holder is told', () => {
  test.each<[string, How, number]>([
    ['a tenth of the lease before the deadline', {}, 2_668],
    ['as long before as was asked for', { options: { notice: 1_000 } }, 1_968],
    ['where a session is good for a third of the lease, by a third of that', { session: true, validFor: 1_000 }, 888],
  ])('%s', (_, how, noticeAt) => {
    expect(timingOf(how).noticeAt).toBe(noticeAt);
  });

  test('no longer before the deadline when the lease was made longer', () => {
    const timing = timingOf();
    timing.ttl = 30_000;
    timing.noteRenewal(1_000, 30_000, 1_000);
    expect(timing.noticeAt).toBe(timing.deadline - 300);
  });
});

test('the key stays taken for the rest of minHold, from the grant', () => {
  expect(timingOf({ now: 100, options: { minHold: 5_000 } }).keptUntil).toBe(5_100);
  expect(timingOf({ now: 100 }).keptUntil).toBe(0);
});

describe('an extension', () => {
  test('of a hold that is not renewed moves the end of its lease, and never forward', () => {
    const timing = timingOf({ options: { renew: false } });
    expect(timing.noteExtension(5_000, 1_000)).toBe(true);
    timing.noteRenewal(1_000, 5_000, 1_000);
    expect(timing.deadline).toBe(5_948);
    expect(timing.noteExtension(1_000, 1_000)).toBe(true);
    timing.noteRenewal(2_000, 5_000, 2_000);
    expect(timing.deadline).toBe(5_948);
  });

  test.each([
    [3_000, true],
    [3_050, false],
  ])('to %i ms is certain where nothing that was not answered may set less, delay included: %j', (ttl, certain) => {
    const timing = timingOf({ lateUntil: 9_000, options: { renew: false, delay: 100 }, validFor: 3_100 });
    expect(timing.noteExtension(ttl, 1_000)).toBe(certain);
  });

  test('of a hold that is renewed is in doubt for as long as that renewal takes, and no failure', () => {
    expect(timingOf({ lateUntil: 9_000 }).noteExtension(60_000, 1_000)).toBe(true);
  });
});

test.each<[string, LockOptions, number, boolean]>([
  ['that renews with half of the time until its notice left', { ttl: 2_000 }, 1_868, true],
  ['that renews, with less', { ttl: 2_000 }, 1_869, false],
  ['that renews and has a long notice, with half of the time until then', { ttl: 2_000, notice: 1_300 }, 1_318, true],
  ['that renews and has a long notice, with less', { ttl: 2_000, notice: 1_300 }, 1_319, false],
  ['that does not renew with all of its lease', { ttl: 2_000, renew: false }, 990, true],
  ['that does not renew, with less', { ttl: 2_000, renew: false }, 991, false],
])('it lasts for the next one %s: %j at %i ms, %j', (_, options, now, lasts) => {
  expect(lastsFor(timingOf(), resolved(options), now)).toBe(lasts);
});

test('a hold that a session carries passes on to no caller that would have less of it than its whole lease', () => {
  const timing = timingOf({ validFor: Number.POSITIVE_INFINITY, session: true });
  const next: LockOptions = { ttl: 2_000, renew: false };
  expect(lastsFor(timing, resolved(next), 500), 'the session carries it for as long as is asked for').toBe(true);
  expect(lastsFor(timing, resolved({ ...next, maxHold: 60_000 }), 500), 'it would count from before').toBe(false);
});

describe('of a hold with a stand-in', () => {
  /** The timing of a hold, and what its stand-in knows and is told. */
  function covered(options: LockOptions = {}) {
    const timing = timingOf({ options });
    const facts = { confirmed: undefined as number | undefined, asking: false };
    const followed: number[] = [];
    timing.cover = {
      get confirmed() {
        return facts.confirmed;
      },
      get asking() {
        return facts.asking;
      },
      follow: ({ ttl }) => void followed.push(ttl),
      end() {},
    } satisfies Cover;
    return { timing, facts, followed };
  }

  test('what that renewed counts when somebody looks, from when it was sent', () => {
    const { timing, facts } = covered();
    facts.confirmed = 2_000;
    expect([timing.lasts(2_967), timing.deadline, timing.sent]).toEqual([true, 4_968, 2_000]);
    expect([timing.lasts(4_967), timing.lasts(4_968)]).toEqual([true, false]);
  });

  test('what that renewed before the last renewal of the watchdog changes nothing', () => {
    const { timing, facts } = covered();
    timing.noteRenewal(1_000, 1_500, 1_100);
    const { confirmation, deadline, confirmedFor } = timing;
    for (const confirmed of [undefined, 900, 1_000]) {
      facts.confirmed = confirmed;
      expect(timing.lasts(1_100)).toBe(true);
      expect(timing).toMatchObject({ confirmation, deadline, confirmedFor, sent: 1_000 });
    }
  });

  test('it follows each renewal, and each lease that is asked for', () => {
    const { timing, followed } = covered();
    timing.noteRenewal(1_000, 3_000, 1_100);
    timing.ask(5_000);
    expect(followed).toEqual([3_000, 5_000]);
  });

  test.each([
    [2_000, 2_000],
    [5_000, 3_000],
  ])('a lease of %i ms is good for what a renewal of its may still set', (ttl, good) => {
    const { timing, facts } = covered();
    facts.asking = true;
    timing.ask(ttl);
    expect(timing.certain).toBe(false);
    facts.asking = false;
    expect(timing.certain, 'when that is over').toBe(false);
    timing.noteRenewal(1_000, 9_000, 1_000);
    expect(timing.confirmation.validFor).toBe(good);
  });

  test('nothing is in doubt where it asks for nothing', () => {
    const { timing } = covered();
    timing.ask(5_000);
    expect(timing.certain).toBe(true);
  });
});

test.each<[string, LockOptions, boolean]>([
  ['is renewed without end', {}, false],
  ['is not renewed', { renew: false }, true],
  ['is renewed for a while', { maxHold: 60_000 }, true],
])('whether a hold that %s may end without a release is known: %j', (_, options, mayExpire) => {
  expect(timingOf({ options }).mayExpire).toBe(mayExpire);
});

test('the key stays taken for a minHold of a single ms, too', () => {
  expect(timingOf({ now: 100, options: { minHold: 1 } }).keptUntil).toBe(101);
});

test('what is asked for the rest of a lease keeps the deadline, and is all that the next caller may count on', () => {
  const timing = timingOf();
  const { deadline } = timing;
  const ttl = restOfLease(timing, 1_000);
  expect(timing.deadline).toBe(deadline);
  expect(timing.confirmation).toEqual({ sent: 1_000, validFor: ttl });
  expect(lastsFor(timing, resolved({ ttl: 1_900, renew: false }), 1_000)).toBe(true);
  expect(lastsFor(timing, resolved({ ttl: 2_100, renew: false }), 1_000)).toBe(false);
});
