import type { LockOptions } from '../../src/core/contract/options.ts';
import type { Actor } from '../exploration/actor.ts';
import type { Plot } from '../exploration/plots.ts';
import type { Event } from '../simulation/history.ts';

/** A step as the models number it (the names at the top of each), and who made it. */
export type Step = readonly [what: number, who: number];

/** What a model is about: what is played to compare it with the code, and how that is told in its steps. */
export interface Scope {
  readonly model: string;
  /** Names to define in it, where the code may do something more often than its search needs. */
  readonly defined?: readonly string[];
  readonly plots: readonly Plot[];
  /** Undefined in place of something that happened and that the model leaves out. */
  stepsOf(events: readonly Event[]): Iterable<Step | undefined>;
}

/** The lock that all are about, asked for under the name of the process, so that a server's claims tell whose they are. */
export const asks = ({ process, locks }: Actor, options: LockOptions) =>
  [locks.mutex('a'), { ...options, wait: 'forever', label: process.name }] as const;

/** Of a process by its name, or by a label that has it. */
const numberOf = (name: string): number => Number(/p(\d)/.exec(name)![1]);

/** Three processes with a claim each. What expires is what the dead left. */
export const grantByRelease: Scope = {
  model: 'grant-by-release',
  plots: (['watch', 'buffered', 'never'] as const).map((wakes) => ({
    name: `a line of three, ${wakes}`,
    clients: 3,
    wakes,
    act: (actor) => actor.uses(...asks(actor, { handOff: false })),
  })),
  *stepsOf(events) {
    const [JOINED, HELD, LEFT, EXPIRED] = [1, 2, 3, 4];
    const crashed = new Set<string>();
    for (const event of events) {
      if (event.what === 'crashed') crashed.add(event.by);
      if (event.what === 'given') yield [HELD, numberOf(event.by)];
      if (event.what !== 'served') continue;
      const { did, label, held } = event;
      // The living give nothing up, and nothing of theirs expires.
      if ((did === 'left' && !held) || (did === 'expired' && !crashed.has(`p${numberOf(label)}`))) yield undefined;
      const step = { joined: JOINED, left: LEFT, expired: EXPIRED, admitted: undefined, refused: undefined }[did];
      if (step !== undefined) yield [step, numberOf(label)];
    }
  },
};

/** Two processes, one with several callers, who hand over what one of them was granted. */
export const handOff: Scope = {
  model: 'hand-off',
  plots: [
    {
      name: 'callers that hand over',
      clients: 2,
      wakes: 'buffered',
      act: async (actor, which) => {
        const asked = asks(actor, { handOff: { max: 2, within: 10_000 } });
        await Promise.all(Array.from({ length: which > 0 ? 2 : 4 }, () => actor.uses(...asked)));
      },
    },
  ],
  *stepsOf(events) {
    const [GRANTED, TURN, LEFT, EXPIRED] = [1, 2, 3, 4];
    const used = new Set<string>();
    for (const event of events) {
      if (event.what === 'given') {
        used.add(event.id);
        yield [TURN, numberOf(event.by)];
      }
      if (event.what !== 'served' || !event.held) continue;
      const { did, id, label } = event;
      if (did === 'left' && !used.has(id)) yield undefined; // nobody of the model gives up what it has not used
      const step = { admitted: GRANTED, left: LEFT, expired: EXPIRED, joined: undefined, refused: undefined }[did];
      if (step !== undefined) yield [step, numberOf(label)];
    }
  },
};

/** Two processes that try twice, at three nodes. */
export const quorumToken: Scope = {
  model: 'quorum-token',
  // One that was refused by a minority alone tries again at once.
  defined: ['ROUNDS=9'],
  plots: [
    {
      name: 'a quorum of three, tried twice',
      clients: 2,
      nodes: 3,
      act: async (actor) => {
        for (const time of ['once', 'twice']) {
          await actor.does(time, async () => {
            const lease = await actor.locks.mutex('a').tryAcquire({ label: actor.process.name });
            if (!lease) return;
            actor.has(lease);
            await actor.step();
            await actor.gives(lease);
          });
        }
      },
    },
  ],
  *stepsOf(events) {
    const [ADMITTED, REFUSED, FREED, GRANTED] = [1, 2, 3, 4];
    const kept = new Map<number, string>();
    for (const event of events) {
      if (event.what === 'given') yield [GRANTED, numberOf(event.by)];
      if (event.what !== 'served') continue;
      const { did, id, label, node } = event;
      if (did === 'expired') yield undefined;
      const at = 10 * node + numberOf(label);
      // A proposal that has overtaken the release before it, as over a connection that broke.
      if (did === 'refused' && kept.has(at)) yield undefined;
      if (did === 'admitted') kept.set(at, id);
      if (did === 'left') kept.delete(at);
      const step = { admitted: ADMITTED, refused: REFUSED, left: FREED, joined: undefined, expired: undefined }[did];
      if (step !== undefined) yield [step, at];
    }
  },
};

export const SCOPES: readonly Scope[] = [grantByRelease, handOff, quorumToken];
