import type { Backend } from '../core/backend.ts';
import { systemClock } from '../core/clock.ts';
import { limited } from './limited.ts';
import type { ManualClock } from './manual-clock.ts';
import { Scene } from './scene.ts';
import type { Subject } from './subject.ts';

/** What a case may need of its subject, in the words it is reported with. */
export type Need =
  | 'shared seats'
  | 'counted seats'
  | 'fair'
  | 'fencing'
  | 'spans'
  | 'lapses'
  | 'wakes'
  | 'mailbox'
  | 'inspect'
  | 'evict'
  | 'changed'
  | 'notes'
  | 'apart'
  | 'faults.die'
  | 'faults.stall';

const MET: Readonly<Record<Need, (backend: Backend, subject: Subject) => boolean>> = {
  'shared seats': ({ traits }) => traits.seats !== 'exclusive',
  'counted seats': ({ traits }) => traits.seats === 'counted',
  fair: ({ traits }) => traits.fair,
  fencing: ({ traits }) => traits.fencing !== 'never',
  spans: ({ traits }) => traits.spans,
  lapses: ({ traits }) => traits.lapses,
  wakes: ({ traits }) => traits.wakes !== 'never',
  mailbox: ({ traits }) => traits.wakes === 'mailbox',
  inspect: (backend) => backend.inspect !== undefined,
  evict: (backend) => backend.evict !== undefined,
  changed: (backend) => backend.changed !== undefined,
  notes: (backend) => backend.notes !== undefined,
  apart: (_, subject) => subject.apart !== undefined,
  'faults.die': (_, subject) => subject.faults?.die !== undefined,
  'faults.stall': (_, subject) => subject.faults?.stall !== undefined,
};

/** One promise, and how to see whether a backend keeps it. */
export interface Law {
  readonly name: string;
  readonly needs?: readonly Need[];
  /** It takes keys by fixed names. */
  readonly alone?: true;
  check(scene: Scene): Promise<void>;
}

/** A law bound to a subject, for any test runner: `run` rejects when the law is broken. */
export interface Case {
  /** What the law says. */
  readonly name: string;
  /** What the subject has to meet, or nothing is tried. */
  readonly needs: readonly Need[];
  /** It takes keys by fixed names: run no other case of the same engine and prefix beside it. All others may run side by side. */
  readonly alone: boolean;
  /** Rejects when the law is broken, or after 30 s. */
  run(): Promise<Outcome>;
}

/** `excludedBy`: the first need the subject does not meet; nothing was tried. Without it the law was kept. */
export interface Outcome {
  /** Undefined: the law was tried, and kept. */
  readonly excludedBy?: Need;
}

/** No case takes longer, ms: an engine that never answers fails it instead of hanging the run. */
const LIMIT = 30_000;

export function caseOf(subject: Subject, law: Law): Case {
  const { name, needs = [], alone = false } = law;
  return {
    name,
    needs,
    alone,
    async run() {
      // By real time: what is opened may be a real thing, whatever clock it is given.
      const scene = await limited(
        Scene.open(subject),
        LIMIT,
        `${subject.name} did not open in ${LIMIT} ms`,
        systemClock,
      );
      const excludedBy = needs.find((need) => !MET[need](scene.clients[0], subject));
      await driven(excludedBy ? scene.close() : trial(scene, law), subject.clock);
      return { excludedBy };
    },
  };
}

async function trial(scene: Scene, { name, check }: Law): Promise<void> {
  try {
    const message = `${scene.subject.name}: "${name}" has not ended after ${LIMIT} ms`;
    await limited(check(scene), LIMIT, message, scene.clock);
  } finally {
    await scene.close();
  }
}

/** A clock that stands still has to be moved while the work waits on it. */
async function driven(work: Promise<void>, clock: ManualClock | undefined): Promise<void> {
  let over = false;
  const end = (): void => {
    over = true;
  };
  work.then(end, end);
  while (clock && !over) await clock.advance(1);
  return work;
}
