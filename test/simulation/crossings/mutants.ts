import type { Edit } from '../mutants.ts';
import type { CrossingCheckerName } from './checkers.ts';
import type { Feature } from './features.ts';

/** The library with a bug where two features meet, and the checker that must find it in schedules about these two. */
export interface CrossingMutant extends Edit {
  readonly bug: string;
  readonly at: readonly [Feature, Feature];
  readonly foundBy: CrossingCheckerName;
}

export const CROSSING_MUTANTS: readonly CrossingMutant[] = [
  {
    bug: 'passes on a hold that minHold keeps taken',
    at: ['linger', 'minHold'],
    file: 'core/queue/release.ts',
    sound: 'if (hold.life.loss || terms.minHold > 0) return false;',
    broken: 'if (hold.life.loss) return false;',
    foundBy: 'minHold',
  },
  {
    bug: 'counts on its delay, too, where maxHold ends the lease',
    at: ['maxHold', 'delay'],
    file: 'core/queue/hold-timing.ts',
    sound: 'return delay > 0 ?',
    broken: 'return delay > 0 && maxHold === Number.POSITIVE_INFINITY ?',
    foundBy: 'delays',
  },
  {
    bug: 'gives back at once what expired without a renewal, whatever its delay',
    at: ['delay', 'renew: false'],
    file: 'core/queue/key-holds.ts',
    sound: 'takeBack(this.engine, hold, hold.timing.closedUntil);',
    broken: 'takeBack(this.engine, hold);',
    foundBy: 'delays',
  },
  {
    bug: 'closes before a release is sent that nobody waits for',
    at: ['awaitRelease', 'close'],
    file: 'core/queue/interim.ts',
    sound: 'return this.#follow(endOfTurn().then(act), () => activity.end());',
    broken:
      'activity.end(); const begin = () => { activity.begin(); return act(); }; return this.#follow(endOfTurn().then(begin), () => activity.end());',
    foundBy: 'idleness',
  },
  {
    bug: 'lets a try wait on when the releases have ended that were on their way',
    at: ['awaitRelease', 'wait: 0'],
    file: 'core/queue/key-queue.ts',
    sound: 'else void interim.ended.then(() => this.#endTry(request));',
    broken: '',
    foundBy: 'attempts',
  },
  {
    bug: 'does not tell a search for deadlocks what a caller of several keys has already',
    at: ['detect', 'renew: false'],
    file: 'primitives/multi-lock.ts',
    sound: 'beside: leases.map(({ hold }) => hold),',
    broken: '',
    foundBy: 'rings',
  },
  {
    bug: 'lets those wait on at a close who wait inside a hold, as in the function of a memo',
    at: ['close', 'memo'],
    file: 'core/queue/frame.ts',
    sound: 'const unlisten = this.#lease.hold.life.onLoss((loss) => this.#giveUp(request, loss));',
    broken: 'const unlisten = () => {};',
    foundBy: 'closes',
  },
];
