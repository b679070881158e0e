import { type Backend, systemClock } from '../../src/core/index.ts';
import { limited, stepUntilEnd } from './limited.ts';
import { Scene, type Subject } from './scene.ts';

/** Whether a subject meets each need. */
const MET = {
  'shared units': ({ traits }) => traits.units !== 'exclusive',
  'counted units': ({ traits }) => traits.units === 'counted',
  fairness: ({ traits }) => traits.fair,
  turns: ({ traits }) => traits.canStarve !== true,
  fencing: ({ traits }) => traits.fencing !== 'never',
  'token blocks': ({ traits }) => traits.tokenBlocks,
  expiry: ({ traits }) => traits.expires,
  delay: ({ traits }) => traits.hasStrangers !== true,
  'renewal from anywhere': ({ traits }) => traits.renewedFrom === 'anywhere',
  'observed expiry': ({ traits }) => traits.observedExpiry === true,
  'wake-ups': ({ traits }) => traits.wakes !== 'never',
  buffered: ({ traits }) => traits.wakes === 'buffered',
  inspect: (backend) => backend.inspect !== undefined,
  evict: (backend) => backend.evict !== undefined,
  changed: (backend) => backend.changed !== undefined,
  'hold watch': ({ watchHold }) => watchHold !== undefined,
  hints: (backend) => backend.hints !== undefined,
  values: ({ traits, values }) => traits.values !== undefined && values !== undefined,
  apart: (_, subject) => subject.apart !== undefined,
  'faults.die': (_, subject) => subject.faults?.die !== undefined,
  'faults.stall': (_, subject) => subject.faults?.stall !== undefined,
} as const satisfies Readonly<Record<string, (backend: Backend, subject: Subject) => boolean>>;

/** What a case may need of its subject, in the words that reports use. */
export type Need = keyof typeof MET;

type Check = (scene: Scene) => Promise<void>;

/** One promise, and how to check whether a backend keeps it. */
export interface Law {
  readonly name: string;
  readonly needs: readonly Need[];
  /** The law uses keys with fixed names. */
  readonly alone?: true;
  readonly check: Check;
}

export function law(name: string, ...given: [Check] | [readonly Need[], Check]): Law {
  const [needs, check] = given.length === 1 ? [[], ...given] : given;
  return { name, needs, check };
}

/** Adds one need to all laws, before the needs of each. */
export const needing = (need: Need, laws: readonly Law[]): Law[] =>
  laws.map((each) => ({ ...each, needs: [need, ...each.needs] }));

/** A law for one subject, for any test runner: `run` rejects when the backend breaks the law. */
export interface Case {
  /** The promise, in words. */
  readonly name: string;
  /** What the case needs of its subject. If something is missing, the case does nothing. */
  readonly needs: readonly Need[];
  /**
   * The case uses keys with fixed names: run it alone on its engine and prefix. Other cases may run at the same time.
   */
  readonly alone: boolean;
  /** Rejects when the backend breaks the law, or after 30 s, or 120 times the tolerance of the subject if that is longer. */
  run(): Promise<Outcome>;
}

/** What a case found. */
export interface Outcome {
  /** The first need that the subject does not meet: then the case did nothing. Undefined: the backend kept the law. */
  readonly excludedBy?: Need;
}

/** The time limit of a case: an engine that never answers fails, and does not hang the run. */
const MAX_CASE_MS = 30_000;
/** The same limit for a slow engine, in tolerances of the subject. The longer of the two limits counts. */
const MAX_CASE_TOLERANCES = 120;

export function caseOf(subject: Subject, { name, needs, alone, check }: Law): Case {
  const trial = async (scene: Scene): Promise<void> => {
    const limit = Math.max(MAX_CASE_MS, scene.tolerance * MAX_CASE_TOLERANCES);
    const late = `${subject.name}: "${name}" has not ended after ${limit} ms`;
    await limited(check(scene), limit, late, scene.clock).finally(() => scene.close());
  };
  return {
    name,
    needs,
    alone: alone ?? false,
    async run() {
      const late = `${subject.name} did not open in ${MAX_CASE_MS} ms`;
      // In real time: opening a subject may take real time, even with a manual clock.
      const scene = await limited(Scene.open(subject), MAX_CASE_MS, late, systemClock);
      const excludedBy = needs.find((need) => !MET[need](scene.clients[0], subject));
      const work = excludedBy ? scene.close() : trial(scene);
      const { clock } = subject;
      // The work may wait for a manual clock, which stands still unless somebody moves it.
      await (clock ? stepUntilEnd(work, () => clock.advance(1)) : work);
      return { excludedBy };
    },
  };
}
