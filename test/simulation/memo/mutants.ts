import type { NewValue, ValueRecord } from '../../../src/core/index.ts';
import type { WaitingCallers } from '../../../src/memo/callers.ts';
import { moduleOf, type PlantedBug, seenAs } from '../../kit/planted.ts';
import type { MemoCheckerName } from './checkers.ts';

/** Memos with one planted bug, and the checker that must find it. */
export interface MemoMutant extends PlantedBug {
  readonly foundBy: MemoCheckerName;
}

const engine = moduleOf<typeof import('../../../src/core/engine/engine.ts')>('core/engine/engine.ts');
const listener = moduleOf<typeof import('../../../src/core/engine/listener.ts')>('core/engine/listener.ts');
const timing = moduleOf<typeof import('../../../src/core/queue/hold-timing.ts')>('core/queue/hold-timing.ts');
const releasing = moduleOf<typeof import('../../../src/core/queue/release-with.ts')>('core/queue/release-with.ts');
const callers = moduleOf<typeof import('../../../src/memo/caller.ts')>('memo/caller.ts');
const decisions = moduleOf<typeof import('../../../src/memo/decisions.ts')>('memo/decisions.ts');
const outcome = moduleOf<typeof import('../../../src/memo/outcome.ts')>('memo/outcome.ts');
const runner = moduleOf<typeof import('../../../src/memo/runner.ts')>('memo/runner.ts');

const aging = ({ ageless: _, ...value }: NewValue): NewValue => value;

/** Takes a release that failed so for one that was carried out. */
const takenForStored = (isTaken: (code: unknown) => boolean) =>
  releasing.exported('releaseWith', (real) => (sound, ...rest) => {
    const store: typeof sound.store = (...args) =>
      sound.store(...args).catch((error) => {
        if (isTaken(error.code)) return true;
        throw error;
      });
    return real(seenAs(sound, { store }), ...rest);
  });

/** @param act what a run does with the callers that wait for it, when it begins */
const beginningWith = (act: (lease: never, waiting: WaitingCallers, runs: WaitingCallers['all'][number]) => void) =>
  runner.exported(
    'Runner',
    (real) =>
      class extends real {
        constructor(facts: ConstructorParameters<typeof real>[0]) {
          super(facts);
          act(facts.lease as never, facts.waiting, facts.caller);
        }
      },
  );

export const MEMO_MUTANTS: readonly MemoMutant[] = [
  {
    bug: 'begins again what is poisoned, where no result is kept',
    faults: [
      outcome.exported('usedUp', (real) => (plan) => aging(real(plan))),
      outcome.exported('failed', (real) => (...args) => {
        const value = real(...args);
        return value && aging(value);
      }),
    ],
    foundBy: 'attempts',
  },
  {
    bug: 'counts no run that ended in a death',
    faults: [
      decisions.exported(
        'afterGrant',
        (real) =>
          (_, ...rest) =>
            real(1, ...rest),
      ),
    ],
    foundBy: 'attempts',
  },
  {
    bug: 'trusts that another machine counts time as it does',
    faults: [timing.exported('passedFor', () => (ms) => ms)],
    foundBy: 'onlyWaiters',
  },
  {
    bug: 'gives a result to callers that came after it',
    faults: [
      decisions.exported(
        'answered',
        () => (all, value, sent) => all.filter(({ plan }) => plan.keep > 0 || value.age <= sent),
      ),
    ],
    foundBy: 'onlyWaiters',
  },
  {
    bug: 'takes a refused release for one that left the words',
    faults: [takenForStored((code) => code !== undefined)],
    foundBy: 'oneResult',
  },
  {
    bug: 'does not ask again after a release without an answer',
    faults: [takenForStored((code) => code === undefined)],
    foundBy: 'oneResult',
  },
  {
    bug: 'does not ask once more when it begins to listen',
    faults: [
      listener.method(
        'Listener',
        'arm',
        (real) =>
          function (claim, ...rest) {
            const waiting = { ...claim, accepts: undefined };
            const isArmed = real.call(this, waiting, ...rest);
            Object.assign(waiting, { accepts: claim.accepts }); // a value by mail is taken nevertheless
            return isArmed;
          },
      ),
    ],
    foundBy: 'promptness',
  },
  {
    bug: 'lets the wait of a caller end while its own function runs',
    faults: [
      beginningWith((_, waiting, runs) => waiting.add(runs)),
      callers.method('Caller', 'begins', () => () => {}),
    ],
    foundBy: 'values',
  },
  {
    bug: 'passes a run on to the next caller of the process, as a lock does',
    faults: [beginningWith((lease, waiting) => void waiting.first?.fn(lease))],
    foundBy: 'exclusion',
  },
  {
    bug: 'lets a caller share a look that was sent before its process forgot the key',
    faults: ((underWay: WeakMap<object, Map<string, Promise<ValueRecord>>>) => [
      engine.method(
        'Engine',
        'look',
        (real) =>
          function (key) {
            const looks = underWay.get(this) ?? new Map();
            underWay.set(this, looks);
            if (!looks.has(key))
              looks.set(
                key,
                real.call(this, key).finally(() => looks.delete(key)),
              );
            return looks.get(key);
          },
      ),
    ])(new WeakMap()),
    foundBy: 'forgotten',
  },
];
