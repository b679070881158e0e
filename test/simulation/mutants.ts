import { moduleOf, type PlantedBug, seenAs, Turn } from '../kit/planted.ts';
import type { CheckerName } from './checkers.ts';

/** The core with one planted bug, and the checker that must find it. */
export interface Mutant extends PlantedBug {
  readonly foundBy: CheckerName;
  /** The first seed to try, where those below it were seen to find nothing: a rare one takes minutes otherwise. Default 1. */
  readonly from?: number;
}

const votes = moduleOf<typeof import('../../src/backends/quorum/tally.ts')>('backends/quorum/tally.ts');
const clock = moduleOf<typeof import('../../src/core/contract/clock.ts')>('core/contract/clock.ts');
const serializer = moduleOf<typeof import('../../src/core/contract/promises.ts')>('core/contract/promises.ts');
const listener = moduleOf<typeof import('../../src/core/engine/listener.ts')>('core/engine/listener.ts');
const withdrawal = moduleOf<typeof import('../../src/core/engine/withdrawal.ts')>('core/engine/withdrawal.ts');
const history = moduleOf<typeof import('../../src/core/queue/adaptive-history.ts')>('core/queue/adaptive-history.ts');
const admission = moduleOf<typeof import('../../src/core/contract/admission.ts')>('core/contract/admission.ts');
const claim = moduleOf<typeof import('../../src/core/queue/claim.ts')>('core/queue/claim.ts');
const sentRecord = moduleOf<typeof import('../../src/core/queue/claim-step.ts')>('core/queue/claim-step.ts');
const frame = moduleOf<typeof import('../../src/core/queue/frame.ts')>('core/queue/frame.ts');
const lease = moduleOf<typeof import('../../src/core/queue/held-lease.ts')>('core/queue/held-lease.ts');
const hold = moduleOf<typeof import('../../src/core/queue/hold.ts')>('core/queue/hold.ts');
const timing = moduleOf<typeof import('../../src/core/queue/hold-timing.ts')>('core/queue/hold-timing.ts');
const pause = moduleOf<typeof import('../../src/core/queue/pause.ts')>('core/queue/pause.ts');
const release = moduleOf<typeof import('../../src/core/queue/release.ts')>('core/queue/release.ts');
const request = moduleOf<typeof import('../../src/core/queue/request.ts')>('core/queue/request.ts');
const multiLock = moduleOf<typeof import('../../src/primitives/multi-lock.ts')>('primitives/multi-lock.ts');

export const QUORUM_MUTANTS: readonly Mutant[] = [
  {
    bug: 'counts on the vote that lasts longest',
    faults: [
      votes.exported('worthOf', (real) => (answers, majority, token) => ({
        ...real(answers, majority, token),
        until: real(answers, 1, token).until,
      })),
    ],
    foundBy: 'votes',
    from: 30,
  },
];

/** An array that stays in the order that it has. */
class Unsortable<T> extends Array<T> {
  override sort(): this {
    return this;
  }

  override toSorted(): T[] {
    return this;
  }
}

export const MUTANTS: readonly Mutant[] = [
  {
    bug: 'counts the deadline from the reply',
    faults: [
      sentRecord.method(
        'SentRecord',
        'receive',
        (real) =>
          function (attempt, notified, now) {
            const grant = real.call(this, attempt, notified, now);
            return grant && { ...grant, sent: now };
          },
      ),
    ],
    foundBy: 'exclusion',
  },
  {
    bug: 'knows a loss only from its timer',
    faults: [
      hold.method(
        'Hold',
        'held',
        () =>
          function () {
            return !this.over;
          },
      ),
    ],
    foundBy: 'exclusion',
  },
  {
    bug: 'leaves no margin for clocks that go wrong',
    faults: [
      timing.method(
        'HoldTiming',
        'lasts',
        (real) =>
          function (now) {
            return real.call(this, now - this.confirmation.validFor / 100 - 2);
          },
      ),
    ],
    foundBy: 'exclusion',
    from: 1000,
  },
  {
    bug: 'extends beside a renewal under way',
    faults: [
      lease.method(
        'HeldLease',
        'extend',
        (real) =>
          function (ttl) {
            this.hold.timing.renewing = undefined;
            return real.call(this, ttl);
          },
      ),
    ],
    foundBy: 'exclusion',
  },
  {
    bug: 'extends twice at once',
    faults: [serializer.method('KeyedSerializer', 'take', () => (_, work) => work())],
    foundBy: 'exclusion',
  },
  {
    bug: 'revives what a renewal finds past its deadline',
    faults: [
      hold.method(
        'Hold',
        'end',
        (real) =>
          async function (reason, known) {
            // No other renewal is due before the answer to the last one is noted, and that is what ends it.
            const isAnswered = !known && !this.timing.renewing && this.timing.renewAt === Number.POSITIVE_INFINITY;
            if (!isAnswered || !this.terms.renew || this.over) return real.call(this, reason, known);
            const now = this.keeper.engine.clock.now();
            this.timing.noteRenewal(now, this.timing.ttl, now);
          },
      ),
    ],
    foundBy: 'finality',
  },
  {
    bug: 'hands over with the same token',
    faults: [
      hold.exported(
        'passedTo',
        (real) => (next, now, given) => Object.assign(real(next, now, given), { token: given.token }),
      ),
    ],
    foundBy: 'tokens',
  },
  {
    bug: 'hands over beyond the reserved tokens',
    faults: [
      release.exported(
        'releaseActOf',
        (real) =>
          (released, ...rest) =>
            real(seenAs(released, { tokenCount: Number.POSITIVE_INFINITY }), ...rest),
      ),
    ],
    foundBy: 'tokens',
    from: 550,
  },
  {
    bug: 'hands over while an extension is on its way',
    faults: [
      release.exported(
        'releaseActOf',
        (real) =>
          (released, ...rest) =>
            real(seenAs(released, { settled: true }), ...rest),
      ),
    ],
    foundBy: 'exclusion',
    from: 2950,
  },
  {
    bug: 'says of a late release that it was in time',
    faults: [
      hold.method(
        'Hold',
        'release',
        (real) =>
          function () {
            this.timing.lasts = () => true;
            return real.call(this);
          },
      ),
    ],
    foundBy: 'losses',
  },
  {
    bug: 'does not withdraw the place of who gives up',
    faults: [
      claim.method(
        'QueuedClaim',
        'withdraw',
        (real) =>
          function () {
            if (this.claimant) real.call(this);
          },
      ),
    ],
    foundBy: 'wakeUps',
  },
  {
    bug: 'gives up a withdrawal that only a session would end',
    faults: [
      withdrawal.exported('withdraw', (real) => (engine, ...rest) => {
        const traits = { ...engine.backend.traits, lifetime: 'lease' as const };
        real(seenAs(engine, { backend: seenAs(engine.backend, { traits }) }), ...rest);
      }),
    ],
    foundBy: 'residue',
  },
  {
    bug: 'does not attempt again once the watch is there',
    faults: [
      listener.method(
        'Listener',
        'arm',
        (real) =>
          function (...args) {
            const isArmed = real.apply(this, args);
            const { wake } = this;
            // A listener has a wake of its own: this one does nothing the first time.
            if (!isArmed) Object.assign(this, { wake: () => Object.assign(this, { wake }) });
            return isArmed;
          },
      ),
    ],
    foundBy: 'wakeUps',
  },
  {
    bug: 'trusts its watch, without a poll beside it',
    faults: [
      pause.exported(
        'pauseAfter',
        (real) =>
          (attempt, wakes, ...rest) =>
            attempt?.granted === false && wakes !== 'never' ? 1e9 : real(attempt, wakes, ...rest),
      ),
    ],
    foundBy: 'endings',
  },
  {
    bug: 'takes several locks in the order given',
    faults: [
      multiLock.exported(
        'multiLock',
        (real) =>
          (runtime, parts, ...rest) =>
            real(runtime, Unsortable.from(parts), ...rest),
      ),
    ],
    foundBy: 'endings',
  },
  {
    bug: 'forgets a claim that rode on a release whose reply is lost',
    faults: [
      sentRecord.method(
        'SentRecord',
        'answerOf',
        (real) =>
          function (...args) {
            const answer = real.apply(this, args);
            this.sent = undefined;
            return answer;
          },
      ),
    ],
    foundBy: 'endings',
  },
  {
    bug: 'lets a child in that was aborted before it began',
    faults: ((entering: Turn) => [
      frame.method('Frame', 'enter', (real) => entering.of(real)),
      request.method(
        'AcquireRequest',
        'isSettled',
        (real) =>
          function () {
            return !entering.isOn && real.call(this);
          },
      ),
    ])(new Turn()),
    foundBy: 'endings',
  },
  {
    bug: 'lets two children in together',
    faults: ((entering: Turn) => [
      frame.method('Frame', 'enter', (real) => entering.of(real)),
      admission.method(
        'ArrivalQueue',
        'join',
        (real) =>
          function (member) {
            return real.call(this, member) || entering.isOn;
          },
      ),
    ])(new Turn()),
    foundBy: 'children',
  },
  {
    bug: 'ends a hold while a child is inside',
    faults: [
      lease.method(
        'HeldLease',
        'leave',
        (real) =>
          function () {
            return this.users > 1 ? this.hold.release() : real.call(this);
          },
      ),
    ],
    foundBy: 'losses',
  },
  {
    bug: 'waits for what the last holders left as long as it takes',
    faults: [
      history.exported(
        'AdaptiveHistory',
        (Real) =>
          class extends Real {
            constructor(...[engine, ...rest]: ConstructorParameters<typeof Real>) {
              super(seenAs(engine, { limit: (ask) => ask() }), ...rest);
            }
          },
      ),
    ],
    foundBy: 'endings',
  },
  {
    bug: 'keeps what it has of several that it cannot have',
    faults: [lease.method('HeldLease', 'undo', () => async () => false)],
    foundBy: 'endings',
  },
  {
    bug: 'goes on with several of which one was lost meanwhile',
    faults: [
      multiLock.method('WaitAbort', 'onLossOf', () => () => {}),
      lease.method(
        'HeldLease',
        'assertHeld',
        (real) =>
          function () {
            if (this.hold.terms.all === undefined) real.call(this);
          },
      ),
    ],
    foundBy: 'tokens',
  },
  {
    bug: 'gives a key back before minHold is over',
    faults: [
      timing.exported(
        'HoldTiming',
        (real) =>
          class extends real {
            override readonly keptUntil = 0;
          },
      ),
    ],
    foundBy: 'minHold',
  },
  {
    bug: 'tells of a loss in the context of whoever found it',
    faults: [clock.method('Context', 'run', () => (fn) => fn())],
    foundBy: 'contexts',
  },
  {
    bug: 'asks the engine in the context of a caller',
    faults: [
      clock.exported('nobody', (real) =>
        seenAs(real, { runInAsyncScope: (fn, self, ...args) => fn.apply(self as never, args) }),
      ),
    ],
    foundBy: 'contexts',
  },
  {
    bug: 'leaves the watches of what it waited for',
    faults: [listener.method('Listener', 'disarm', () => () => {})],
    foundBy: 'residue',
  },
];
