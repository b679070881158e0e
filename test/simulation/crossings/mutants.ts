import { moduleOf, type PlantedBug, seenAs, Turn } from '../../kit/planted.ts';
import type { CrossingCheckerName } from './checkers.ts';
import type { Feature } from './features.ts';

/** The library with a bug where two features meet, and the checker that must find it in schedules about these two. */
export interface CrossingMutant extends PlantedBug {
  readonly at: readonly [Feature, Feature];
  readonly foundBy: CrossingCheckerName;
}

const frame = moduleOf<typeof import('../../../src/core/queue/frame.ts')>('core/queue/frame.ts');
const listeners = moduleOf<typeof import('../../../src/core/queue/hold-listeners.ts')>('core/queue/hold-listeners.ts');
const timing = moduleOf<typeof import('../../../src/core/queue/hold-timing.ts')>('core/queue/hold-timing.ts');
const interim = moduleOf<typeof import('../../../src/core/queue/interim.ts')>('core/queue/interim.ts');
const release = moduleOf<typeof import('../../../src/core/queue/release.ts')>('core/queue/release.ts');
const runtime = moduleOf<typeof import('../../../src/core/queue/runtime.ts')>('core/queue/runtime.ts');

export const CROSSING_MUTANTS: readonly CrossingMutant[] = [
  {
    bug: 'passes on a hold that minHold keeps taken',
    at: ['linger', 'minHold'],
    faults: [
      release.exported(
        'releaseActOf',
        (real) =>
          (hold, ...rest) =>
            real(seenAs(hold, { terms: { ...hold.terms, minHold: 0 } }), ...rest),
      ),
      release.exported(
        'lingerOf',
        (real) => (hold, now) => real(seenAs(hold, { terms: { ...hold.terms, minHold: 0 } }), now),
      ),
    ],
    foundBy: 'minHold',
  },
  {
    bug: 'counts on its delay, too, where maxHold ends the lease',
    at: ['maxHold', 'delay'],
    faults: [
      timing.exported(
        'HoldTiming',
        (real) =>
          class extends real {
            constructor(...[grant, terms, ...rest]: ConstructorParameters<typeof real>) {
              super(grant, terms.maxHold < Number.POSITIVE_INFINITY ? { ...terms, delay: 0 } : terms, ...rest);
            }
          },
      ),
    ],
    foundBy: 'delays',
  },
  {
    bug: 'gives back at once what expired without a renewal, whatever its delay',
    at: ['delay', 'renew: false'],
    faults: [timing.method('HoldTiming', 'closedUntil', () => () => 0)],
    foundBy: 'delays',
  },
  {
    bug: 'closes before a release is sent that nobody waits for',
    at: ['awaitRelease', 'close'],
    faults: [
      interim.exported(
        'Interim',
        (real) =>
          class extends real {
            readonly #activity;

            constructor(...[engine]: ConstructorParameters<typeof real>) {
              super(engine);
              this.#activity = engine.activity;
            }

            override endTurn<T>(act: () => Promise<T>): Promise<T> {
              const ended = super.endTurn(() => {
                this.#activity.begin();
                return act();
              });
              this.#activity.end();
              return ended;
            }
          },
      ),
    ],
    foundBy: 'idleness',
  },
  {
    bug: 'lets a try wait on when the releases have ended that were on their way',
    at: ['awaitRelease', 'wait: 0'],
    faults: [interim.method('Interim', 'ended', () => () => new Promise(() => {}))],
    foundBy: 'attempts',
  },
  {
    bug: 'does not tell a search for deadlocks what a caller of several keys has already',
    at: ['detect', 'renew: false'],
    faults: [
      runtime.method(
        'LockRuntime',
        'take',
        (real) =>
          function (key, units, { beside: _, ...terms }) {
            return real.call(this, key, units, terms);
          },
      ),
    ],
    foundBy: 'rings',
  },
  {
    bug: 'lets those wait on at a close who wait inside a hold, as in the function of a memo',
    at: ['close', 'memo'],
    faults: ((entering: Turn) => [
      frame.method('Frame', 'enter', (real) => entering.of(real)),
      listeners.method(
        'HoldListeners',
        'onLoss',
        (real) =>
          function (listener) {
            return entering.isOn ? () => {} : real.call(this, listener);
          },
      ),
    ])(new Turn()),
    foundBy: 'closes',
  },
];
